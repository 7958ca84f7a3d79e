"""Embeds texts for tests: reads {"texts": [...]}, writes {"vectors": [...]}. With a server's URL, builds a collection.

    index.py                              embeds
    index.py build URL NAME VARIANT       builds NAME from the documents on standard input, one JSON object a line
    index.py rename URL NAME NEW          gives a collection another name
    index.py wait URL                     waits until the server answers

Vectors follow from the words of a text and from the variant, and have the same length in every variant.
"""
import hashlib
import json
import math
import sys
import time
import urllib.error
import urllib.request

DIMENSIONS = 64


def embed(text, variant=0):
    vector = [0.0] * DIMENSIONS
    for word in "".join(c.lower() if c.isalnum() else " " for c in text).split():
        digest = hashlib.sha256(f"{variant}:{word}".encode()).digest()
        for at in range(0, 16, 2):
            vector[digest[at] % DIMENSIONS] += 1.0 if digest[at + 1] % 2 else -1.0
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]


def call(method, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.loads(reply.read() or b"null")


def collections(url):
    return f"{url}/api/v2/tenants/default_tenant/databases/default_database/collections"


def build(url, name, variant):
    documents = [json.loads(line) for line in sys.stdin if line.strip()]
    collection = call("POST", collections(url), {"name": name})["id"]
    call("POST", f"{collections(url)}/{collection}/add", {
        "ids": [document["id"] for document in documents],
        "embeddings": [embed(document["text"], variant) for document in documents],
        "documents": [document["text"] for document in documents],
        "metadatas": [{"url": f"https://docs.example/{document['id']}"} for document in documents],
    })


def wait(url):
    for _ in range(600):
        try:
            call("GET", f"{url}/api/v2/heartbeat")
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    sys.exit("the server does not answer")


def main(arguments):
    match arguments:
        case []:
            texts = json.load(sys.stdin)["texts"]
            json.dump({"vectors": [embed(text) for text in texts]}, sys.stdout)
        case ["build", url, name, variant]:
            build(url, name, int(variant))
        case ["rename", url, name, new]:
            collection = call("GET", f"{collections(url)}/{name}")["id"]
            call("PUT", f"{collections(url)}/{collection}", {"new_name": new})
        case ["wait", url]:
            wait(url)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
