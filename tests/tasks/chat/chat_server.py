"""A server on loopback that speaks OpenAI's chat completions, as a test scripts it."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """An answer with more than status and text: headers, whether it ends before it is all there, and seconds between
    the events of one that is streamed."""

    status: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    pause: float = 0.0
    silent: bool = False  # whether a stream stops after its first event, and stays open

    def events(self) -> list[bytes]:
        """A completion in server-sent events, a word each, as they come with `stream` set."""
        whole = json.loads(self.text)
        common = {name: value for name, value in whole.items() if name not in ("choices", "usage")}
        words = re.findall(r"\s*\S+", whole["choices"][0]["message"]["content"])
        deltas = [{**common, "choices": [{"delta": {"content": word}, "finish_reason": None}]} for word in words]
        deltas.append({**common, "choices": [{"delta": {}, "finish_reason": "stop"}]})
        usage = [{**common, "choices": [], "usage": whole["usage"]}] if "usage" in whole else []
        return [f"data: {json.dumps(one)}\n\n".encode() for one in (*deltas, *usage)] + [b"data: [DONE]\n\n"]


# Gets the number of a request and what it holds; returns status and text, and may wait before it does.
Script = Callable[[int, dict[str, Any]], tuple[int, str] | Reply]


@dataclass
class Chat:
    """What was asked.

    Attributes:
        url: base address.
        asked: requests, in order: path, headers, body.
        models: what /models lists; None = there is no such page.
        refuses: whether /models answers 401.
        most_at_once: the most requests that were open together.
    """

    url: str = ""
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    models: list[dict[str, Any]] | None = None
    refuses: bool = False
    most_at_once: int = 0
    at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def write(self, script: Script, path: str, headers: dict[str, str], body: dict[str, Any]) -> Reply:
        """Note a request, and return what the script answers."""
        with self.lock:
            self.asked.append((path, headers, body))
            number = len(self.asked)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            reply = script(number, body)
        finally:
            with self.lock:
                self.at_once -= 1
        return reply if isinstance(reply, Reply) else Reply(*reply)


def said(text: str, **more: Any) -> str:
    """A chat completion with a text, and with further fields such as `usage`."""
    choice = {"message": {"role": "assistant", "content": text}}
    return json.dumps({"object": "chat.completion", "choices": [choice], **more})


def sentences(*written: tuple[str, list[int]]) -> str:
    """A chat completion with the sentences of a summary, each with numbers of passages."""
    return said(json.dumps({"sentences": [{"text": text, "passages": numbers} for text, numbers in written]}))


def marks(faithfulness: int, coverage: int, fluency: int) -> str:
    return said(json.dumps({"faithfulness": faithfulness, "coverage": coverage, "fluency": fluency}))


@contextmanager
def chat_server(script: Script) -> Iterator[Chat]:
    """Serve a script while the block runs."""
    chat = Chat()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else each body waits 40 ms behind its headers

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = chat.write(script, self.path, dict(self.headers), body)
            if body.get("stream") and reply.status == 200 and reply.text.startswith('{"object"'):
                self.stream(reply)
            else:
                self.reply(reply)

        def stream(self, reply: Reply) -> None:
            """Send an answer event by event; its end is that of the connection, so that HTTP misses nothing of one that
            is cut."""
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Connection", "close")
            self.end_headers()
            events = reply.events()
            for event in events[: len(events) // 2] if reply.cut else events:
                self.wfile.write(event)
                self.wfile.flush()
                time.sleep(reply.pause)
                if reply.silent:
                    self.rfile.read(1)  # until the client waits no longer
                    break
            self.close_connection = True

        def do_GET(self) -> None:
            listed = json.dumps({"object": "list", "data": chat.models})
            known = chat.models is not None and self.path == "/v1/models"
            self.reply(Reply(401, "{}") if chat.refuses else Reply(200, listed) if known else Reply(404, "{}"))

        def reply(self, reply: Reply) -> None:
            text = reply.text.encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text[: len(text) // 2] if reply.cut else text)
            self.close_connection |= reply.cut

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
