"""A retriever over SQLite with sqlite-vec: python3 ask_sqlite_vec.py FILE. Needs `apsw` and `sqlite-vec` from PyPI.

Snapshots are { table }: a table `NAME` with `id`, `text` and `url`, and a table `NAME_vectors` of `vec0` with the same
rowids and a column `embedding`. (SQLite with its own full text search needs no program: see `retrieve.sql`.)

    snapshots:
      old: { table: docs_41 }
      new: { table: docs_42 }
    retrieve:
      command: { argv: [python3, ask_sqlite_vec.py, docs.db] }
      embed: { openai: { model: text-embedding-3-small, key_env: OPENAI_API_KEY } }
"""
import json
import re
import sys

import apsw
import sqlite_vec

asked = json.load(sys.stdin)
name = asked["snapshot"]["table"]
if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
    sys.exit("the table has no plain name")
database = apsw.Connection(sys.argv[1], flags=apsw.SQLITE_OPEN_READONLY)
database.enable_load_extension(True)
database.load_extension(sqlite_vec.loadable_path())
database.enable_load_extension(False)
rows = database.execute(
    f"SELECT id, text, url FROM {name}_vectors AS near JOIN {name} AS docs ON docs.rowid = near.rowid "
    "WHERE near.embedding MATCH ? AND k = ? ORDER BY near.distance, id",
    (json.dumps(asked["vector"]), asked["top_k"]),
)
json.dump([{"id": id, "text": text, "url": url} for id, text, url in rows], sys.stdout)
