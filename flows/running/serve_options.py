"""How `wikisum serve` serves: options of the command line, and secrets of the environment."""

import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flows.running.child_processes import free_port
from flows.running.files import FILES
from flows.running.hosts import is_loopback
from flows.running.settings import WEBHOOK

CREDENTIALS = "PREFECT_SERVER_API_AUTH_STRING"  # environment variable: user:password of Prefect's server and the page
HEARTBEAT_SECONDS = 30  # of runs; the shortest interval that Prefect allows
_LEAST_PASSWORD = 8
PAGE_PORT = 4300


@dataclass(frozen=True)
class Options:
    """How to serve."""

    host: str  # where the server listens
    port: int
    pool: str  # of workers
    database: str | None  # URL of a PostgreSQL database; None = SQLite in Prefect's home
    auth: str  # user:password of server, page and metrics
    page_port: int  # of the page for summaries
    root: str  # of deployments, page and figures

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
        is_built = "://" in self.root or (Path(self.root) / "builds").is_dir()
        model = ["--model", self.root] if is_built else []
        return [sys.executable, "-m", "flows", "summarize", *listen, *model]


def web_address(host: str, port: int) -> str:
    """Return the URL on this machine of what listens there."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def options_of(
    host: str, port: int, pool: str, environment: Mapping[str, str], kept: str | None = None, root: str = "data"
) -> Options:
    """Return how to serve there, with the first free ports, and the environment's secrets or the `kept` credentials of
    the last time, else fresh ones; ValueError for bad ones."""
    database = environment.get("DATABASE_URL") or None
    port = free_port(host, port)
    database, auth = database and database_url(database), environment.get(CREDENTIALS)
    auth = checked_credentials(auth) if auth else kept or fresh_credentials()
    return Options(host, port, pool, database, auth, free_port(host, PAGE_PORT, besides=[port]), root)


def database_url(url: str) -> str:
    """Return a PostgreSQL URL as Prefect needs it; ValueError, without the password, for another database."""
    scheme, separator, rest = url.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+asyncpg") or not separator:
        begins = f"begins with {scheme[:20]!r}" if separator else "names no kind of database"
        raise ValueError(f"DATABASE_URL {begins}: expected postgresql://user:password@host/database")
    return f"postgresql+asyncpg://{rest}"


def authentication(host: str, credentials: str | None) -> str | None:
    """Return the user:password of a page that is served alone: the given one, else None on loopback, else a fresh one;
    ValueError for a bad one. Loopback answers only requests by the names of this machine."""
    if credentials:
        return checked_credentials(credentials)
    return None if is_loopback(host) else fresh_credentials()


def fresh_credentials() -> str:
    """Return a user with a new password."""
    return f"admin:{secrets.token_urlsafe(18)}"


def checked_credentials(credentials: str) -> str:
    """Return user:password; ValueError for another form, or a short password."""
    user, _, password = credentials.partition(":")
    if not user or len(password) < _LEAST_PASSWORD:
        raise ValueError(f"{CREDENTIALS}: expected user:password with a password of at least {_LEAST_PASSWORD}")
    return credentials


def environment_of(options: Options) -> dict[str, str]:
    """Return the environment of server, worker and flow runs; secrets are passed only here."""
    environment = {
        **os.environ,
        CREDENTIALS: options.auth,
        "PREFECT_API_URL": options.api,
        "PREFECT_API_AUTH_STRING": options.auth,
        "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": options.ui,  # Prefect's default is every site
        "PREFECT_SERVER_CSRF_PROTECTION_ENABLED": "true",
        "PREFECT_UI_API_URL": "/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_SECONDS),
        "PREFECT_LOGGING_SERVER_LEVEL": "WARNING",
    }
    if "://" not in options.root:  # which may be outside the folder of the runs
        environment[FILES] = os.pathsep.join(filter(None, [environment.get(FILES), options.root]))
    environment.pop(WEBHOOK, None)  # the server's alarms report it
    if options.database:
        environment["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = options.database
    return environment
