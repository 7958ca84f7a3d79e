"""Elasticsearch's own specification, which has a language of its own, as a description in OpenAPI."""

BUILT_IN = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "number": {"type": "number"},
    "null": {"type": "null"},
    "void": {},
    "binary": {},
}
WHOLE_NUMBERS = ("byte", "short", "integer", "uint", "long", "ulong")


class Elastic:
    def __init__(self, specification):
        self.types = {(kind["name"]["namespace"], kind["name"]["name"]): kind for kind in specification["types"]}
        self.endpoints = specification["endpoints"]

    def openapi(self):
        """All of it; every error is of the form that the specification has for most of them."""
        schemas = {".".join(name): self.schema(kind) for name, kind in self.types.items()}
        paths = {}
        for endpoint in self.endpoints:
            if endpoint["request"] is None:
                continue
            for url in endpoint["urls"]:
                item = paths.setdefault(url["path"], {})
                item.update({method.lower(): self.operation(endpoint) for method in url["methods"]})
        return {"openapi": "3.1.0", "paths": paths, "components": {"schemas": schemas}}

    def operation(self, endpoint):
        request = self.types[endpoint["request"]["namespace"], endpoint["request"]["name"]]
        response = self.types[endpoint["response"]["namespace"], endpoint["response"]["name"]]
        query = [
            {"name": name, "in": "query", "required": one["required"], "schema": self.value(one["type"])}
            for name, one in self.properties(request, "query").items()
        ]
        found = {"200": {"content": self.json(self.body(response))}}
        error = {"$ref": "#/components/schemas/_types.ErrorResponseBase"}
        operation = {"parameters": query, "responses": {**found, "default": {"content": self.json(error)}}}
        if request["body"]["kind"] != "no_body":
            operation["requestBody"] = {"content": self.json(self.body(request))}
        return operation

    @staticmethod
    def json(schema):
        return {"application/json": {"schema": schema}}

    def body(self, kind):
        if kind["body"]["kind"] == "value":
            return self.value(kind["body"]["value"])
        if kind["body"]["kind"] == "no_body":
            return {"type": "null"}
        inherited = self.properties(self.type(kind["inherits"]), "properties") if "inherits" in kind else {}
        return self.object({**inherited, **self.named(kind["body"]["properties"])})

    def type(self, name):
        name = name.get("type", name)
        return self.types[name["namespace"], name["name"]]

    @staticmethod
    def named(properties):
        """Properties by name, aliases among them; one that has aliases cannot be required by its name."""
        found = {}
        for one in properties:
            aliases = one.get("aliases", ())
            for name in (one["name"], *aliases):
                found[name] = {**one, "required": one["required"] and not aliases}
        return found

    def properties(self, kind, member):
        inherited = self.properties(self.type(kind["inherits"]), member) if "inherits" in kind else {}
        return {**inherited, **self.named(kind.get(member, ()))}

    def object(self, properties):
        return {
            "type": "object",
            "properties": {name: self.value(one["type"]) for name, one in properties.items()},
            "required": [name for name, one in properties.items() if one["required"]],
        }

    def schema(self, kind):
        if kind["kind"] == "enum":
            words = [word for one in kind["members"] for word in (one["name"], *one.get("aliases", ()))]
            return {"type": "string"} if kind.get("isOpen") else {"type": "string", "enum": words}
        if kind["kind"] == "type_alias":
            if kind["name"]["namespace"] == "_types" and kind["name"]["name"] in WHOLE_NUMBERS:
                return {"type": "integer"}
            return self.value(kind["type"])
        return self.interface(kind) if kind["kind"] == "interface" else {}

    def interface(self, kind):
        properties = self.properties(kind, "properties")
        found = self.object(properties)
        if any(name.startswith("AdditionalPropert") for name in kind.get("attachedBehaviors", ())):
            found["additionalProperties"] = True
        if kind.get("variants", {}).get("kind") == "container":
            own = sum(1 for one in properties.values() if one.get("containerProperty"))
            found.update({"minProperties": 1, "maxProperties": 1 + own})
        if "shortcutProperty" in kind:
            short = self.value(properties[kind["shortcutProperty"]]["type"])
            return {"anyOf": [found, short]}
        return found

    def value(self, value):
        kind = value["kind"]
        if kind == "instance_of":
            name = value["type"]["namespace"], value["type"]["name"]
            if name[0] == "_builtins":
                return BUILT_IN[name[1]]
            # A parameter of a type, which a user's own documents stand for.
            return {"$ref": "#/components/schemas/" + ".".join(name)} if name in self.types else {}
        if kind == "array_of":
            return {"type": "array", "items": self.value(value["value"])}
        if kind == "union_of":
            return {"anyOf": [self.value(one) for one in value["items"]]}
        if kind == "literal_value":
            return {"const": value["value"]}
        if kind == "dictionary_of":
            one = {"minProperties": 1, "maxProperties": 1} if value["singleKey"] else {}
            return {"type": "object", "additionalProperties": self.value(value["value"]), **one}
        assert kind == "user_defined_value", kind
        return {}
