"""A retriever over LanceDB: python3 ask_lancedb.py DATABASE. Needs `lancedb` from PyPI.

Snapshots are { table, version }: the version is a number that LanceDB gives to every state of a table and never changes.

    snapshots:
      old: { table: docs, version: "41" }
      new: { table: docs, version: "42" }
    retrieve:
      command: { argv: [python3, ask_lancedb.py, docs.lance] }
      embed: { openai: { model: text-embedding-3-small, key_env: OPENAI_API_KEY } }
"""
import json
import sys

import lancedb

asked = json.load(sys.stdin)
snapshot = asked["snapshot"]
table = lancedb.connect(sys.argv[1]).open_table(snapshot["table"])
table.checkout(int(snapshot["version"]))
# Without an index, or past it, every vector is looked at: two passes then agree.
found = table.search(asked["vector"]).bypass_vector_index().limit(asked["top_k"]).to_list()
found.sort(key=lambda row: (row["_distance"], row["id"]))
json.dump([{"id": row["id"], "text": row["text"], "url": row["url"]} for row in found], sys.stdout)
