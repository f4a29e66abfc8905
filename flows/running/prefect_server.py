"""Prefect's own server as we start it: it ends with its parent, lets nobody else read its database, and answers only
requests that `flows.running.hosts` lets pass. Prefect has settings for a password, CORS and CSRF, but none for `Host`.
Run by itself it is that server, `SOCKET PARENT KIND`."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

from flows.running.child_processes import end_with_parent, start

_OWNER_ONLY = 0o600


def start_server(
    listening: socket.socket, kind: Literal["temporary", "permanent"], environment: Mapping[str, str], *, quiet: bool
) -> "subprocess.Popen[bytes]":
    """Start the server of this process on a socket that listens; a temporary one has no pages and no schedules."""
    number = listening.fileno()
    command = [sys.executable, "-m", "flows.running.prefect_server", str(number), str(os.getpid()), kind]
    return start(command, environment, quiet=quiet, inherited=[number])


def main(number: int, parent: int, kind: str) -> None:
    """Serve on an open socket until a signal comes."""
    end_with_parent(parent)
    import uvicorn  # here, because these take long, and the watch has to begin before
    from prefect.server.api.server import create_app

    from flows.running.hosts import KnownHosts, known_hosts

    temporary = kind == "temporary"
    with socket.socket(fileno=number) as listening:
        hide_database()
        app = create_app(ephemeral=temporary, final=True)
        app.add_middleware(KnownHosts, hosts=known_hosts(listening.getsockname()[0], os.environ))
        config = uvicorn.Config(app, log_level="error" if temporary else "warning")
        uvicorn.Server(config).run(sockets=[listening])


def hide_database() -> None:
    """Let only its owner read the settings' SQLite database, which has the parameters and logs of all runs; it is made
    if there is none. SQLite gives its journals the mode of the database."""
    from prefect.settings import get_current_settings
    from sqlalchemy.engine import make_url

    setting = get_current_settings().server.database.connection_url
    assert setting is not None, "Prefect names its own database"
    url = make_url(setting.get_secret_value())
    if url.get_backend_name() != "sqlite" or not url.database or ":memory:" in url.database:
        return
    database = Path(url.database.removeprefix("file:")).expanduser()
    database.parent.mkdir(parents=True, exist_ok=True)
    database.touch(_OWNER_ONLY)
    for name in (database.name, f"{database.name}-wal", f"{database.name}-shm"):
        with suppress(FileNotFoundError):
            database.with_name(name).chmod(_OWNER_ONLY)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
