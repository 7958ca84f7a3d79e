"""A GitHub on this machine: comments and statuses of one repository, each request held against the official description.

    mock_github.py DESCRIPTION

Prints its port. `GET /_state` gives back comments, statuses and every fault that was found. Sizes, which the description
does not limit, are checked here.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from jsonschema import Draft202012Validator

BOT = {"login": "github-actions[bot]", "type": "Bot"}


class Description:
    """The paths and request bodies of an OpenAPI 3.0 document."""

    def __init__(self, document):
        self.document = document
        self.paths = [(self.pattern(path), item) for path, item in document["paths"].items()]

    @staticmethod
    def pattern(path):
        return re.compile("^" + re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path)) + "$")

    def resolve(self, schema):
        """Follows references, and turns `nullable` into what JSON Schema says."""
        if isinstance(schema, list):
            return [self.resolve(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        if "$ref" in schema:
            node = self.document
            for key in schema["$ref"].lstrip("#/").split("/"):
                node = node[key]
            return self.resolve(node)
        resolved = {key: self.resolve(value) for key, value in schema.items()}
        if resolved.pop("nullable", False) and "type" in resolved:
            resolved["type"] = [resolved["type"], "null"]
        return resolved

    def faults(self, method, path, query, body):
        for pattern, item in self.paths:
            match = pattern.match(path)
            if match and method.lower() in item:
                return list(self.of_operation(item[method.lower()], match.groupdict(), query, body))
        return [f"{method} {path}: not in the description"]

    def of_operation(self, operation, in_path, query, body):
        for parameter in self.resolve(operation.get("parameters", [])):
            values = {"path": in_path, "query": query}.get(parameter["in"], {})
            if parameter["name"] in values:
                value = values[parameter["name"]]
                if parameter["schema"].get("type") == "integer":
                    value = int(value) if value.isdigit() else value
                yield from self.of_schema(parameter["schema"], value)
        declared = {p["name"] for p in self.resolve(operation.get("parameters", [])) if p["in"] == "query"}
        yield from (f"query parameter {name} is unknown" for name in query if name not in declared)
        if "requestBody" in operation:
            schema = self.resolve(operation["requestBody"])["content"]["application/json"]["schema"]
            yield from self.of_schema(schema, body)
        elif body is not None:
            yield "a body where there must be none"

    @staticmethod
    def of_schema(schema, value):
        yield from (error.message[:200] for error in Draft202012Validator(schema).iter_errors(value))


class State:
    def __init__(self):
        self.lock = Lock()
        self.comments, self.statuses, self.checks, self.faults, self.calls = [], [], [], [], []

    def sizes(self, path, body):
        if "comments" in path and len(body["body"].encode()) > 65536:
            yield "the comment is too long"
        if "statuses" in path and (len(body["description"]) > 140 or len(body["context"]) > 255):
            yield "the status is too long"
        if "check-runs" in path and len(body["output"]["summary"].encode()) > 65535:
            yield "the summary is too long"
        if "check-runs" in path and len(body["output"].get("annotations", [])) > 50:
            yield "too many annotations"

    def act(self, method, path, body):
        """Status and body of the answer."""
        number = re.match(r"^/repos/[^/]+/[^/]+/issues/comments/(\d+)$", path)
        if method == "GET" and path.endswith("/statuses"):
            return 200, self.statuses[::-1]
        if method == "GET" and path.endswith("/check-runs"):
            return 200, {"total_count": 0, "check_runs": []}
        if method == "GET" and path.endswith("/comments"):
            return 200, self.comments
        if method == "POST" and path.endswith("/comments"):
            id_ = 1000 + len(self.comments)
            page = f"https://github.com{path.split('/repos')[1]}#issuecomment-{id_}"
            comment = {"id": id_, "body": body["body"], "html_url": page, "user": BOT}
            self.comments.append(comment)
            return 201, comment
        if method == "PATCH" and number:
            comment = next(c for c in self.comments if c["id"] == int(number[1]))
            comment["body"] = body["body"]
            return 200, comment
        if method == "POST" and "/statuses/" in path:
            self.statuses.append({"sha": path.rsplit("/", 1)[1], **body})
            return 201, self.statuses[-1]
        if method == "POST" and path.endswith("/check-runs"):
            self.checks.append(body)
            return 201, {"id": len(self.checks), **body}
        check = re.match(r"^/repos/[^/]+/[^/]+/check-runs/(\d+)$", path)
        if method == "PATCH" and check:
            self.checks[int(check[1]) - 1]["output"]["annotations"] += body["output"]["annotations"]
            return 200, self.checks[int(check[1]) - 1]
        if method == "GET" and path.endswith("/pulls"):
            return 200, [{"number": 2, "state": "open", "head": {"sha": "b" * 40, "repo": {"id": 7}}}]
        return 404, {"message": "Not Found"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        url = urlsplit(self.path)
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        body = json.loads(raw) if raw else None
        with state.lock:
            if url.path == "/_state":
                members = ("comments", "statuses", "checks", "faults", "calls")
                return self.reply(200, {name: getattr(state, name) for name in members})
            if url.path == "/graphql":
                return self.reply(404, {"message": "Not Found"})
            # No path of a repository; what it says to a workflow's token.
            if self.command == "GET" and url.path == "/user":
                return self.reply(403, {"message": "Resource not accessible by integration"})
            query = {key: values[-1] for key, values in parse_qs(url.query).items()}
            state.calls.append(f"{self.command} {url.path}")
            faults = description.faults(self.command, url.path, query, body)
            if self.headers.get("authorization") != "Bearer mock-token":
                faults.append("no token")
            if not faults and self.command in ("POST", "PATCH"):
                faults = list(state.sizes(url.path, body))
            state.faults += faults
            if faults:
                return self.reply(422, {"message": "Validation Failed"})
            status, answer = state.act(self.command, url.path, body)
        return self.reply(status, answer)

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_):
        pass


with open(sys.argv[1], encoding="utf-8") as file:
    description = Description(json.load(file))
state = State()
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
