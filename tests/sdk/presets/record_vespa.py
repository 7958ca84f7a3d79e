"""Records what Vespa's own client sends for what the preset asks, as `record.ts` does for the others: others.json."""
import http.server
import importlib.metadata
import json
import threading

from vespa.application import Vespa

seen = []


class Recorder(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen.append({"method": "POST", "path": self.path, "query": {}, "headers": {}, "body": body})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"root":{}}')

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
threading.Thread(target=server.serve_forever, daemon=True).start()
application = Vespa(url="http://127.0.0.1", port=server.server_port)
search = {"yql": "select * from docs where userQuery()", "query": "QUESTION", "ranking": "default", "hits": 3}
for body in [search, {"yql": "select * from docs where true", "hits": 0}]:
    application.query(body=body)
client = f"pyvespa {importlib.metadata.version('pyvespa')}"
requests = dict(zip(["search", "POST /search/"], seen, strict=True))
with open("others.json", "w") as file:
    json.dump({"vespa": {"client": client, "requests": requests}}, file)
