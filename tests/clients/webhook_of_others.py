"""A webhook server as somebody else would write it, of the standard library alone: python webhook_of_others.py PORT FOLDER

FOLDER has tls.crt and tls.key; each request is written into FOLDER/asked.jsonl. What a path does is its name."""

from __future__ import annotations

import base64
import json
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PORT, FOLDER = int(sys.argv[1]), Path(sys.argv[2])


def patched(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(operations).encode()).decode()}


def label(request: dict[str, Any]) -> dict[str, Any]:
    if "labels" not in request["object"]["metadata"]:
        return patched({"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}})
    return patched({"op": "add", "path": "/metadata/labels/seen", "value": "yes"})


def count(request: dict[str, Any]) -> dict[str, Any]:
    data = request["object"].get("data") or {}
    return patched({"op": "add", "path": "/data/times", "value": str(1 + int(data.get("times", 0)))})


def deny(_: dict[str, Any]) -> dict[str, Any]:
    return {"allowed": False, "status": {"code": 403, "message": "not on my watch"}}


def slow(_: dict[str, Any]) -> dict[str, Any]:
    time.sleep(3)
    return {}


def allow(_: dict[str, Any]) -> dict[str, Any]:
    return {"warnings": ["this was looked at"]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        path = self.path.partition("?")[0].strip("/")
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        with (FOLDER / "asked.jsonl").open("a") as file:
            file.write(json.dumps({"path": path, **request}) + "\n")
        answer = {"label": label, "count": count, "deny": deny, "slow": slow, "allow": allow}[path](request)
        response = {"uid": request["uid"], "allowed": True, **answer}
        body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


if __name__ == "__main__":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / "tls.crt", FOLDER / "tls.key")
    server = ThreadingHTTPServer(("0.0.0.0", PORT), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
