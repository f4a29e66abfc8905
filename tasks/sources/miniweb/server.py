"""Serves the mini web over HTTP/1.1 from one port of the loopback interface, whatever the host."""

import re
import socket
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

from tasks.sources.miniweb.links import DOMAIN, SEARCH_HOST
from tasks.sources.miniweb.site import Answer, Miniweb, listing
from tasks.sources.settings import MiniwebSettings

_CHUNK = 1 << 16
_BROWSED = re.compile(r"^/host/([a-z0-9.-]+)(/.*)?$")
_INDEX_TOPICS = 100


class MiniwebServer(ThreadingHTTPServer):
    """A server of one mini web, running in a thread inside its `with` block."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, settings: MiniwebSettings, *, count_requests: bool = True) -> None:
        """Bind any free port of this machine."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.web = Miniweb(settings)
        self.requests: Counter[str] = Counter()  # of each URL, HEAD and robots.txt included, if `count_requests`
        self.connections: set[socket.socket] = set()
        self._failed_once: set[str] = set()  # flaky pages; whoever clears the counts does not make them fail again
        self._count_requests = count_requests
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), name="miniweb", daemon=True)

    @property
    def address(self) -> str:
        """`127.0.0.1:port`."""
        return f"127.0.0.1:{self.server_port}"

    @property
    def connect_to(self) -> dict[str, str]:
        """Where the crawler connects for the web's hosts: host pattern -> address:port."""
        return {f"*.{DOMAIN}": self.address}

    def respond(self, host: str, target: str) -> Answer:
        """Count a request and return the web's answer, or an error for the first request of a flaky page."""
        url = f"http://{host}{target}"
        answer = self.web.answer(host, target)
        with self._lock:
            if self._count_requests:
                self.requests[url] += 1
            if answer.flaky and url not in self._failed_once:
                self._failed_once.add(url)
                return Answer(500, b"<h1>500</h1><p>Please try again.</p>")
        return answer

    def __enter__(self) -> "MiniwebServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        for connection in self.connections.copy():  # clients keep them open
            with suppress(OSError):
                connection.close()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore the error when a client disconnects."""


class _Handler(BaseHTTPRequestHandler):
    server: MiniwebServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "miniweb/1", ""
    disable_nagle_algorithm = True  # otherwise every answer on a kept connection waits 40 ms
    timeout = 60
    wbufsize = -1  # so that headers and body leave in one packet where they fit

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").rsplit(":", 1)[0].lower()
        if host.endswith(DOMAIN):
            self._send(self.server.respond(host, self.path))
        elif browsed := _BROWSED.match(self.path):
            self._send(_for_browser(self.server.respond(browsed[1], browsed[2] or "/")))
        else:
            self._send(_index(self.server.web, self.path))

    do_HEAD = do_GET  # noqa: N815 - the base class asks for this name

    def _send(self, answer: Answer) -> None:
        time.sleep(answer.seconds)
        status, body, tag = answer.status, answer.body, answer.headers.get("ETag")
        if tag and self.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        length = ("Transfer-Encoding", "chunked") if answer.chunked else ("Content-Length", str(len(body)))
        self.send_response(status)
        for name, value in (*answer.headers.items(), *([length] if status != 304 else [])):
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if answer.chunked:
            pieces = (body[start : start + _CHUNK] for start in range(0, len(body) + _CHUNK, _CHUNK))
            body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class has this name
        pass


def _index(web: Miniweb, path: str) -> Answer:
    """Return a page for people who open the server by its address: hosts, then topics a hundred at a time."""
    start = int(path[1:]) if path[1:].isdigit() else 0
    rows = [] if start else [(host, f"/host/{host}/") for host in web.hosts]
    for topic in range(start, min(start + _INDEX_TOPICS, web.settings.topics_now)):
        title = web.world.title(topic)
        rows.append((f"{topic}: {title}", f"/host/{SEARCH_HOST}/search?q={quote(title)}"))
    if start + _INDEX_TOPICS < web.settings.topics_now:
        rows.append(("more", f"/{start + _INDEX_TOPICS}"))
    return listing("The mini web: hosts and topics", rows)


def _for_browser(answer: Answer) -> Answer:
    """Return an answer whose links to hosts of the web lead through /host/ of this server."""
    headers = {name: value.replace("http://", "/host/", 1) for name, value in answer.headers.items() if name != "ETag"}
    body = answer.body
    if headers["Content-Type"].startswith("text/html") and "Content-Encoding" not in headers:
        body = re.sub(rb'href="http://([a-z0-9.-]+\.miniweb\.test)', rb'href="/host/\1', body)
        body = re.sub(rb'href="/(?!host/)', rb'href="#/', body)
    return replace(answer, body=body, headers=headers)
