"""A stand-in for the Hugging Face hub on the loopback interface: what an upload of a folder asks of it."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_of_the_test"


@dataclass
class Hub:
    """What the hub knows.

    Attributes:
        url: its address.
        made: bodies of the requests that made a repository.
        files: file -> content, as committed.
        uploads: uploads of large files, in all.
        refusal: status and message with which it answers a commit; None = it takes it.
    """

    url: str = ""
    made: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    uploads: int = 0
    refusal: tuple[int, str] | None = None
    blobs: dict[str, bytes] = field(default_factory=dict)


@contextmanager
def hub() -> Iterator[Hub]:
    """A hub that listens until the block ends."""
    known = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _answer(self, content: Any, status: int = 200, **headers: str) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def do_GET(self) -> None:
            known_user = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            if self.path == "/api/whoami-v2" and known_user:
                self._answer({"type": "user", "name": "tester", "auth": {}})
            else:
                self._answer({"error": "Invalid credentials"}, 401)

        def do_PUT(self) -> None:
            known.blobs[self.path.rpartition("/")[2]] = self._body()
            known.uploads += 1
            self._answer({}, ETag='"x"')

        def do_POST(self) -> None:
            body = self._body()
            path = self.path.partition("?")[0]
            if path == "/api/repos/create":
                known.made.append(json.loads(body))
                made = known.made[-1]
                folder = "datasets/" if made.get("type") == "dataset" else ""
                self._answer({"url": f"{known.url}/{folder}{made['organization']}/{made['name']}"})
            elif path == "/api/validate-yaml":
                self._answer({"errors": [], "warnings": []})
            elif "/preupload/" in path:
                modes = [
                    {
                        "path": file["path"],
                        "uploadMode": "lfs" if file["path"].endswith((".parquet", ".safetensors")) else "regular",
                        "shouldIgnore": False,
                        "oid": None,
                    }
                    for file in json.loads(body)["files"]
                ]
                self._answer({"files": modes})
            elif path.endswith("/info/lfs/objects/batch"):
                self._answer({"transfer": "basic", "objects": [self._blob(one) for one in json.loads(body)["objects"]]})
            elif "/commit/" in path:
                self._commit(body, path.split("/commit/")[0].removeprefix("/api/"))
            else:
                self._answer({"error": f"no such address: {path}"}, 404)

        def _blob(self, one: dict[str, Any]) -> dict[str, Any]:
            there = one["oid"] in known.blobs
            return {**one, **({} if there else {"actions": {"upload": {"href": f"{known.url}/lfs/{one['oid']}"}}})}

        def _commit(self, body: bytes, repository: str) -> None:
            if known.refusal is not None:
                self._answer({"error": known.refusal[1]}, known.refusal[0])
                return
            for line in body.splitlines():
                operation = json.loads(line)
                value = operation["value"]
                if operation["key"] == "file":
                    known.files[value["path"]] = base64.b64decode(value["content"])
                elif operation["key"] == "lfsFile":
                    known.files[value["path"]] = known.blobs[value["oid"]]
            address = f"{known.url}/{repository}/commit/{'1' * 40}"
            self._answer({"commitUrl": address, "commitOid": "1" * 40, "pullRequestUrl": None})

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
