"""A retriever over Milvus by gRPC: python3 ask_milvus.py ADDRESS. Needs `pymilvus` from PyPI.

For servers without REST, such as Milvus Lite; the presets `milvus` and `milvus-bm25` ask the others. Snapshots are
{ collection }: a collection and no alias, since nothing tells where an alias points.

    snapshots:
      old: { collection: docs_41 }
      new: { collection: docs_42 }
    retrieve:
      command: { argv: [python3, ask_milvus.py, "http://127.0.0.1:19530"] }
      embed: { openai: { model: text-embedding-3-small, key_env: OPENAI_API_KEY } }
"""
import json
import sys

from pymilvus import MilvusClient

asked = json.load(sys.stdin)
collection = asked["snapshot"]["collection"]
client = MilvusClient(uri=sys.argv[1])
if collection not in client.list_collections():
    sys.exit("there is no such collection")
[found] = client.search(
    collection, data=[asked["vector"]], limit=asked["top_k"], output_fields=["text", "url"], consistency_level="Strong"
)
documents = [{"id": hit["id"], "text": hit["entity"]["text"], "url": hit["entity"]["url"]} for hit in found]
json.dump(documents, sys.stdout)
