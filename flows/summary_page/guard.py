"""What every request to the page passes: whose it is, and what the browser may do with the answer."""

import base64
import secrets
from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from fastapi.responses import PlainTextResponse

# Everything comes from this server; frames too, so that a page shown in one cannot lead it elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
Next = Callable[[Request], Awaitable[Response]]


def guard(credentials: str | None) -> Callable[[Request, Next], Awaitable[Response]]:
    """Return the middleware that refuses a request or passes it on. Answers 401: the credentials are lacking or wrong;
    421: there are none, and Host is no name of this machine (DNS rebinding); 403: another site's page wants to change
    something."""
    expected = None if credentials is None else f"Basic {base64.b64encode(credentials.encode()).decode()}"

    async def admit(request: Request, call_next: Next) -> Response:
        refusal = _refusal(request, expected)
        response = refusal if refusal is not None else await call_next(request)
        for name, value in {**_HEADERS, "Content-Security-Policy": POLICY}.items():
            response.headers.setdefault(name, value)
        return response

    return admit


def _refusal(request: Request, expected: str | None) -> Response | None:
    host = request.headers.get("host", "")
    if expected is None:
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name not in _LOOPBACK:
            return PlainTextResponse(f"unknown host {name[:100]!r}: expected 127.0.0.1 or localhost", 421)
    elif not secrets.compare_digest(request.headers.get("authorization", "").encode(), expected.encode()):
        asked = {"WWW-Authenticate": 'Basic realm="summaries", charset="UTF-8"'}
        return PlainTextResponse("a password is needed", 401, headers=asked)
    if request.method not in ("GET", "HEAD") and _from_elsewhere(request, host):
        return PlainTextResponse("requests from other sites are refused", 403)
    return None


def _from_elsewhere(request: Request, host: str) -> bool:
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != host
