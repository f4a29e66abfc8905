"""How `wikisum serve` serves: options of the command line, and secrets of the environment."""

import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from flows.running.child_processes import free_port
from flows.running.settings import WEBHOOK

CREDENTIALS = "PREFECT_SERVER_API_AUTH_STRING"  # environment variable: user:password of Prefect's server and the page
HEARTBEAT_SECONDS = 30  # of runs; the shortest interval that Prefect allows
_LEAST_PASSWORD = 8
PAGE_PORT = 4300
ROOT = "data"  # of the deployments in prefect.yaml


@dataclass(frozen=True)
class Options:
    """How to serve."""

    host: str  # where the server listens
    port: int
    pool: str  # of workers
    database: str | None  # URL of a PostgreSQL database; None = SQLite in Prefect's home
    auth: str | None  # user:password for the API; None = no authentication
    page_port: int  # of the page for summaries

    @property
    def api(self) -> str:
        """URL of the API on this machine."""
        return f"{self.ui}/api"

    @property
    def ui(self) -> str:
        """URL of the UI on this machine; other machines need its host name instead of a loopback address."""
        return web_address(self.host, self.port)

    @property
    def page(self) -> str:
        """URL of the page for summaries on this machine."""
        return web_address(self.host, self.page_port)

    @property
    def page_command(self) -> list[str]:
        """The command that serves the page, with the models of the deployments' root if there is a build."""
        listen = ["--serve", "--host", self.host, "--port", str(self.page_port)]
        model = ["--model", ROOT] if (Path(ROOT) / "builds").is_dir() else []
        return [sys.executable, "-m", "flows", "summarize", *listen, *model]


def web_address(host: str, port: int) -> str:
    """Return the URL on this machine of what listens there."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def options_of(host: str, port: int, pool: str, environment: Mapping[str, str]) -> Options:
    """Return how to serve there, with the first free ports and the environment's secrets; ValueError for bad ones."""
    database = environment.get("DATABASE_URL") or None
    port = free_port(host, port)
    database, auth = database and database_url(database), authentication(host, environment.get(CREDENTIALS))
    return Options(host, port, pool, database, auth, free_port(host, PAGE_PORT, besides=[port]))


def database_url(url: str) -> str:
    """Return a PostgreSQL URL as Prefect needs it; ValueError, without the password, for another database."""
    scheme, separator, rest = url.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+asyncpg") or not separator:
        begins = f"begins with {scheme[:20]!r}" if separator else "names no kind of database"
        raise ValueError(f"DATABASE_URL {begins}: expected postgresql://user:password@host/database")
    return f"postgresql+asyncpg://{rest}"


def authentication(host: str, credentials: str | None) -> str | None:
    """Return the API's user:password: the given one, None on loopback, else a fresh one; ValueError for a bad one."""
    if not credentials:
        with suppress(ValueError):
            if host == "localhost" or ip_address(host).is_loopback:
                return None
        return f"admin:{secrets.token_urlsafe(18)}"
    user, _, password = credentials.partition(":")
    if not user or len(password) < _LEAST_PASSWORD:
        raise ValueError(f"{CREDENTIALS}: expected user:password with a password of at least {_LEAST_PASSWORD}")
    return credentials


def environment_of(options: Options) -> dict[str, str]:
    """Return the environment of server, worker and flow runs; secrets are passed only here."""
    environment = {
        **os.environ,
        "PREFECT_API_URL": options.api,
        "PREFECT_UI_API_URL": "/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_SECONDS),
        "PREFECT_LOGGING_SERVER_LEVEL": "WARNING",
    }
    environment.pop(WEBHOOK, None)  # the server's alarms tell it
    if options.database:
        environment["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = options.database
    if options.auth:
        environment[CREDENTIALS] = environment["PREFECT_API_AUTH_STRING"] = options.auth
    return environment
