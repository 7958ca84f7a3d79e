"""One description in OpenAPI 3.0 or 3.1: finds the operation of a request and says what does not fit it.

A description lets servers add members, so that its schemas let pass whatever nobody heard of. Here they are closed: a member
that is described nowhere is a fault, in what we send as in the replies that we wrote by hand.
"""
import json
from urllib.parse import parse_qsl, unquote, urlsplit

from jsonschema import Draft202012Validator

KEPT = (
    "type enum const required minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems"
    " maxItems uniqueItems minProperties maxProperties"
).split()


class Schemas:
    """The schemas of a description in the JSON Schema of 2020, each as it stands and closed against unknown members."""

    def __init__(self, contents):
        self.contents = contents
        self.made = {}

    def at(self, pointer):
        found = self.contents
        for name in pointer.removeprefix("#/").split("/"):
            found = found[unquote(name).replace("~1", "/").replace("~0", "~")]
        return found

    def resolved(self, node):
        while "$ref" in node:
            node = self.at(node["$ref"])
        return node

    def named(self, pointer, closed):
        name = pointer.removeprefix("#/").replace("/", ".") + ("!" if closed else "")
        if name not in self.made:
            self.made[name] = None  # A schema may name itself.
            self.made[name] = self.plain(self.at(pointer), closed)
        return {"$ref": "#/$defs/" + name.replace("~", "~0")}

    def plain(self, schema, closed=True):
        if isinstance(schema, bool):
            return schema
        if "$ref" in schema:
            return self.named(schema["$ref"], closed)
        if schema.keys() == {"nullable"}:
            return {"type": "null"}  # How generators write the empty half of a choice.
        out = {key: schema[key] for key in KEPT if key in schema}
        self.bounds(out)
        self.parts(schema, out, closed)
        if schema.get("nullable"):
            out.pop("enum", None) if None in out.get("enum", ()) else None
            out = {"anyOf": [out, {"type": "null"}]}
        return out

    @staticmethod
    def bounds(out):
        """OpenAPI 3.0 says of a bound whether it is excluded; later ones have a bound of its own for that."""
        for bound, excluded in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")]:
            if isinstance(out.get(excluded), bool):
                if out.pop(excluded) and bound in out:
                    out[excluded] = out.pop(bound)

    def parts(self, schema, out, closed):
        whole = schema.get("allOf", [])
        composed = "properties" in schema or len(whole) > 1
        if whole:
            out["allOf"] = [self.plain(part, closed and not composed) for part in whole]
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                # Of what is sent it matters that one fits, not that no other does: closed or not, alternatives overlap.
                found = [self.plain(part, closed and not composed) for part in schema[choice]]
                out.setdefault("allOf", []).append({"anyOf": found})
        if "properties" in schema:
            out["properties"] = {name: self.plain(part) for name, part in schema["properties"].items()}
        for key in ("items", "additionalProperties"):
            if key in schema:
                out[key] = self.plain(schema[key])
        if "prefixItems" in schema:
            out["prefixItems"] = [self.plain(part) for part in schema["prefixItems"]]
        if closed and composed and "additionalProperties" not in schema:
            out["unevaluatedProperties"] = False

    def faults(self, schema, value):
        """What a schema of the description says against a value."""
        plain = self.plain(schema)
        whole = {**plain, "$defs": {name.replace("~", "~0"): made for name, made in self.made.items()}}
        errors = Draft202012Validator(whole).iter_errors(value)
        return [f"{error.json_path}: {error.message[:300]}" for error in errors]


def read_as(text, kind):
    """A text of a query as the kind of value that its parameter is."""
    try:
        return json.loads(text) if kind in ("integer", "number", "boolean") else text
    except ValueError:
        return text


class Description:
    """A whole description; `base` is what stands before its paths on a server."""

    def __init__(self, contents, base=""):
        assert contents["openapi"].startswith("3."), contents["openapi"]
        self.contents = contents
        self.base = base
        self.schemas = Schemas(contents)

    def operation(self, method, path):
        """The operation whose path this is, with its parameters; a path without braces goes first."""
        parts = unquote(urlsplit(path).path).removeprefix(self.base).split("/")
        fitting = []
        for template, item in self.contents["paths"].items():
            wanted = template.split("/")
            known = [name for name in wanted if not name.startswith("{")]
            same = len(parts) == len(wanted) and all(
                name == part or (name.startswith("{") and part) for name, part in zip(wanted, parts)
            )
            if same and method.lower() in item:
                fitting.append((len(known), template))
        if not fitting:
            return None
        item = self.contents["paths"][max(fitting)[1]]
        operation = item[method.lower()]
        parameters = [*item.get("parameters", []), *operation.get("parameters", [])]
        return {**operation, "parameters": [self.schemas.resolved(one) for one in parameters]}

    def asked(self, request):
        """What does not fit of `{method, path, headers, body}`."""
        operation = self.operation(request["method"], request["path"])
        if operation is None:
            return [f"{request['method']} {request['path']}: not described"]
        headers = {name.lower(): value for name, value in request["headers"].items()}
        faults = self.unfitting_query(operation, request["path"])
        faults += self.missing_headers(operation, headers)
        return faults + self.unfitting_body(operation, headers, request["body"])

    def unfitting_query(self, operation, path):
        known, required = {}, set()
        for parameter in operation["parameters"]:
            if parameter["in"] == "query":
                schema = parameter.get("schema", {})
                whole = self.schemas.resolved(schema)
                if "properties" in whole and parameter.get("explode", True):
                    known.update(whole["properties"])
                    required |= set(whole.get("required", ()))
                else:
                    known[parameter["name"]] = schema
                    required |= {parameter["name"]} if parameter.get("required") else set()
        given = dict(parse_qsl(urlsplit(path).query, keep_blank_values=True))
        faults = [f"?{name}: required" for name in required - given.keys()]
        for name, text in given.items():
            if name not in known:
                faults.append(f"?{name}: not described")
            else:
                value = read_as(text, self.schemas.resolved(known[name]).get("type"))
                faults += [f"?{name}: {fault}" for fault in self.schemas.faults(known[name], value)]
        return faults

    def missing_headers(self, operation, headers):
        names = [one["name"] for one in operation["parameters"] if one["in"] == "header" and one.get("required")]
        schemes = self.contents.get("components", {}).get("securitySchemes", {})
        secured = operation.get("security", self.contents.get("security")) or []
        keys = [self.key(schemes[name], headers) for choice in secured for name in choice if name in schemes]
        faults = [f"header {name}: required" for name in names if name.lower() not in headers]
        return faults + (["no header with a key"] if keys and not any(keys) else [])

    @staticmethod
    def key(scheme, headers):
        if scheme["type"] == "apiKey" and scheme["in"] == "header":
            return scheme["name"].lower() in headers
        kind = scheme.get("scheme", "bearer").lower()
        return headers.get("authorization", "").lower().startswith(kind + " ")

    def unfitting_body(self, operation, headers, body):
        described = self.schemas.resolved(operation.get("requestBody", {})).get("content", {})
        if body is None:
            required = operation.get("requestBody", {}).get("required")
            return ["a body is required"] if required else []
        if not described:
            return ["a body: not described"]
        kind = headers.get("content-type", "").split(";")[0]
        if kind not in described:
            return [f"content-type {kind}: not described"]
        return self.schemas.faults(described[kind]["schema"], body)

    def answered(self, reply):
        """What does not fit of a reply `{method, path, status, body}`."""
        operation = self.operation(reply["method"], reply["path"])
        if operation is None:
            return [f"{reply['method']} {reply['path']}: not described"]
        schema = self.reply_schema(operation["responses"], reply["status"])
        if schema is None:
            return [f"status {reply['status']}: not described"]
        return self.schemas.faults(schema, reply["body"])

    def reply_schema(self, responses, status):
        """The schema of this status, or of another error: vendors describe one form for all and name few of them."""
        order = [str(status), f"{status // 100}XX", "default"]
        order += [other for other in responses if other[0] in "45" and status >= 400]
        for known in order:
            content = self.schemas.resolved(responses.get(known, {})).get("content", {})
            for kind, media in content.items():
                if kind.startswith("application/json") and "schema" in media:
                    return media["schema"]
        return None
