"""Our servers answer only requests that name this machine and do not come from a page of another site.

A browser lets any page send requests to a server of the same machine. Its `Origin` says whose page it is. A page whose
own name is made to mean this machine (DNS rebinding) shows that name as `Host`."""

from collections.abc import Collection, Mapping
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

HOSTS = "WIKISUM_HOSTS"  # environment variable: further names of this machine, separated by commas
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_READING = ("GET", "HEAD", "OPTIONS")
_POLICY_VIOLATION = 1008  # RFC 6455, sec. 7.4.1


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def known_hosts(host: str, environment: Mapping[str, str]) -> Collection[str] | None:
    """Return the names that a server listening there answers to, without ports; None = to every name. Loopback has its
    own names and those of WIKISUM_HOSTS. The names of other addresses are unknown here. The password protects them,
    because a page of another site does not know it. There the names of WIKISUM_HOSTS, if any, are the only ones."""
    given = {name.strip().lower() for name in environment.get(HOSTS, "").split(",") if name.strip()}
    return LOOPBACK | given if is_loopback(host) or given else None


def refusal(scope: Scope, hosts: Collection[str] | None) -> tuple[int, str] | None:
    """Return the status and the text that refuse a request or a WebSocket, or None to answer it. The status 421 means
    that Host is not one of `hosts`, 403 that the page of another site wants to change something or to listen."""
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    name = (host if host.endswith("]") else host.rpartition(":")[0] or host).lower()
    if hosts is not None and name not in hosts:
        expected = f"expected 127.0.0.1, localhost, or a name that {HOSTS} has at its start"
        return 421, f"unknown host {name[:100]!r}: {expected}"
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    elsewhere = origin is not None and origin.partition("://")[2] != host
    if site is not None:
        elsewhere = site not in ("same-origin", "none")
    if elsewhere and (scope["type"] == "websocket" or scope["method"] not in _READING):
        return 403, "requests from other sites are refused"
    return None


class KnownHosts:
    """Middleware that answers only what `refusal` lets pass."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        """`hosts`: as of `known_hosts`."""
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        refused = refusal(scope, self._hosts) if scope["type"] in ("http", "websocket") else None
        if refused is None:
            return await self._app(scope, receive, send)
        status, text = refused
        if scope["type"] == "websocket":
            return await WebSocketClose(_POLICY_VIOLATION, text[:100])(scope, receive, send)
        return await PlainTextResponse(text, status)(scope, receive, send)
