"""Fills the engines that programs ask, for tests, with the documents on standard input, one JSON object a line.

    index.py lancedb DATABASE          adds a version of the table `docs`
    index.py milvus ADDRESS NAME       fills a collection
    index.py sqlite-vec FILE NAME      fills a table and its vectors
"""
import json
import sys

from embed import DIMENSIONS, embed


def rows():
    documents = [json.loads(line) for line in sys.stdin if line.strip()]
    return [document | {"vector": embed(document["text"])} for document in documents]


def lancedb(database):
    import lancedb

    connection = lancedb.connect(database)
    if "docs" not in connection.table_names():
        connection.create_table("docs", rows())
    else:
        connection.open_table("docs").add(rows(), mode="overwrite")
    json.dump(connection.open_table("docs").version, sys.stdout)


def milvus(address, name):
    from pymilvus import DataType, MilvusClient

    client = MilvusClient(uri=address)
    schema = client.create_schema()
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("text", DataType.VARCHAR, max_length=4096)
    schema.add_field("url", DataType.VARCHAR, max_length=4096)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=DIMENSIONS)
    index = client.prepare_index_params()
    index.add_index("vector", index_type="FLAT", metric_type="L2")
    client.create_collection(name, schema=schema, index_params=index)
    client.insert(name, rows())
    client.load_collection(name)


def sqlite_vec(file, name):
    import apsw
    import sqlite_vec

    database = apsw.Connection(file)
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.execute(f"CREATE TABLE {name} (id TEXT, text TEXT, url TEXT)")
    database.execute(f"CREATE VIRTUAL TABLE {name}_vectors USING vec0(embedding float[{DIMENSIONS}])")
    for number, row in enumerate(rows(), 1):
        database.execute(f"INSERT INTO {name} VALUES (?, ?, ?)", (row["id"], row["text"], row["url"]))
        database.execute(f"INSERT INTO {name}_vectors (rowid, embedding) VALUES (?, ?)", (number, json.dumps(row["vector"])))


match sys.argv[1:]:
    case ["lancedb", database]:
        lancedb(database)
    case ["milvus", address, name]:
        milvus(address, name)
    case ["sqlite-vec", file, name]:
        sqlite_vec(file, name)
    case _:
        sys.exit(__doc__)
