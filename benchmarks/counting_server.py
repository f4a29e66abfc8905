"""A Prefect server of its own for a measurement: its processor time, and how often each route of it is asked.

with counting_server(home) as server:   # PREFECT_HOME and PREFECT_API_URL are set from here on
    ...
    server.processor_seconds()
server.requests                         # route -> requests, and messages of its web sockets
"""

import json
import os
import re
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flows.running.child_processes import end_with_parent, free_port, start, stop, wait_for_api

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
_START_SECONDS, _STOP_SECONDS = 600.0, 60.0
_COUNTS = "requests.json"
# What the database keeps of a run; the other tables hold settings and services.
_TABLES = ("flow_run", "flow_run_state", "task_run", "task_run_state", "events", "log", "artifact")


@dataclass
class CountingServer:
    """A running server."""

    pid: int
    home: Path
    requests: Counter[str] = field(default_factory=Counter)  # route -> number of requests; filled once it has ended

    def processor_seconds(self) -> float:
        """Return the processor time it has used so far (Linux)."""
        used = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, used)) / os.sysconf("SC_CLK_TCK")

    def rows(self) -> dict[str, int]:
        """Return the rows of each table of its database."""
        with sqlite3.connect(self.home / "prefect.db") as database:
            return {table: database.execute(f"select count(*) from {table}").fetchone()[0] for table in _TABLES}


@contextmanager
def counting_server(home: Path) -> Iterator[CountingServer]:
    """Run a server with a new home until the block ends, for this process and those that it starts.

    Raises:
        RuntimeError: it does not start.
    """
    from prefect.context import refresh_global_settings_context

    port = free_port("127.0.0.1")
    os.environ |= {"PREFECT_HOME": str(home), "PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
    process = start([sys.executable, "-m", "benchmarks.counting_server", str(port), str(os.getpid())])
    server = CountingServer(process.pid, home)
    try:
        url = f"http://127.0.0.1:{port}/api"
        if not wait_for_api(url, process, _START_SECONDS):
            raise RuntimeError(f"the Prefect server did not start within {_START_SECONDS:.0f} s")
        os.environ["PREFECT_API_URL"] = url
        refresh_global_settings_context()
        yield server
    finally:
        stop(process, _STOP_SECONDS)
        if (counts := home / _COUNTS).exists():
            server.requests.update(json.loads(counts.read_text()))


def main(port: int, parent: int) -> None:
    """Serve as `flows.running.server_process` does, counting."""
    end_with_parent(parent)
    import uvicorn
    from prefect.server.api.server import create_app

    app, requests = create_app(ephemeral=True, final=True), Counter[str]()

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        route = f"{scope.get('method', scope['type'])} {_ID.sub('ID', scope.get('path', ''))}"

        async def message() -> Any:
            received = await receive()
            if received["type"] == "websocket.receive":
                requests[route] += 1
            return received

        if scope["type"] == "http":
            requests[route] += 1
        await app(scope, message if scope["type"] == "websocket" else receive, send)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # uvicorn raises the signal again once it has shut down
    try:
        uvicorn.run(counted, host="127.0.0.1", port=port, log_level="error")
    finally:
        (Path(os.environ["PREFECT_HOME"]) / _COUNTS).write_text(json.dumps(requests))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
