"""Fills a Chroma server for tests.

    chroma.py build URL NAME VARIANT       builds NAME from the documents on standard input, one JSON object a line
    chroma.py rename URL NAME NEW          gives a collection another name
    chroma.py wait URL                     waits until the server answers
    chroma.py get URL PATH                 writes what the server has there
"""
import json
import sys
import time
import urllib.error
import urllib.request

from embed import embed


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
        "metadatas": [{"url": document["url"]} for document in documents],
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
        case ["build", url, name, variant]:
            build(url, name, int(variant))
        case ["rename", url, name, new]:
            collection = call("GET", f"{collections(url)}/{name}")["id"]
            call("PUT", f"{collections(url)}/{collection}", {"new_name": new})
        case ["get", url, path]:
            json.dump(call("GET", url + path), sys.stdout)
        case ["wait", url]:
            wait(url)
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
