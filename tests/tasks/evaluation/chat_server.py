"""A server on loopback that speaks OpenAI's chat completions, as a test scripts it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Gets the number of a request and what it holds; returns status and text, and may wait before it does.
Script = Callable[[int, dict[str, Any]], tuple[int, str]]


@dataclass
class Chat:
    """What was asked.

    Attributes:
        url: base address.
        asked: requests, in order: path, headers, body.
    """

    url: str = ""
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)


def said(text: str) -> str:
    """A chat completion with a text."""
    return json.dumps({"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": text}}]})


def marks(faithfulness: int, coverage: int, fluency: int) -> str:
    return said(json.dumps({"faithfulness": faithfulness, "coverage": coverage, "fluency": fluency}))


@contextmanager
def chat_server(script: Script) -> Iterator[Chat]:
    """Serve a script while the block runs."""
    chat = Chat()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            chat.asked.append((self.path, dict(self.headers), body))
            status, text = script(len(chat.asked), body)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except ConnectionError:  # a client that waits no longer
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    chat.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def slowly(text: str, seconds: float) -> Script:
    """Answer a first request too late, the next at once."""

    def script(number: int, _: dict[str, Any]) -> tuple[int, str]:
        time.sleep(seconds if number == 1 else 0)
        return 200, text

    return script
