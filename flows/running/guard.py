"""The checks of every request to the page and to `/metrics`: who sends it, how large it may be, and what a browser may
do with the answer."""

import base64
import secrets
from collections.abc import Collection, Sequence

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flows.running.hosts import refusal
from tasks.cited_summary.sources import megabytes

# Everything comes from this server; frames too, so that a page shown in one cannot lead it elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
}


class RequestGuard:
    """Middleware that refuses a request or passes it on. Answers 421 and 403: as `flows.running.hosts`; 401: the
    credentials are lacking or wrong; 413: the body is larger than the limit, as announced or as read."""

    def __init__(self, app: ASGIApp, credentials: str | None, limit: int, hosts: Collection[str] | None) -> None:
        """`credentials`: user:password as Basic, the password as Bearer; None = not asked. `limit`: bytes of a body.
        `hosts`: names that the server answers to; None = to every name."""
        self._app, self._limit, self._hosts = app, limit, hosts
        self._expected: Sequence[str] = ()
        if credentials is not None:
            basic = base64.b64encode(credentials.encode()).decode()
            self._expected = (f"Basic {basic}", f"Bearer {credentials.partition(':')[2]}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = Headers(scope=scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        refused = self._refused(scope, headers)
        if refused is not None:
            return await refused(scope, receive, with_headers)
        return await self._app(scope, self._limited(receive, headers), with_headers)

    def _limited(self, receive: Receive, headers: Headers) -> Receive:
        """Return what raises HTTPException before more of a body is read than the limit."""
        announced, read = headers.get("content-length", ""), 0

        async def limited() -> Message:
            nonlocal read
            if announced.isdigit() and int(announced) > self._limit:
                raise HTTPException(
                    413, f"it has {megabytes(int(announced))}: expected at most {megabytes(self._limit)}"
                )
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise HTTPException(413, f"it has more than {megabytes(self._limit)}, the most that is read")
            return message

        return limited

    def _refused(self, scope: Scope, headers: Headers) -> Response | None:
        if (elsewhere := refusal(scope, self._hosts)) is not None:
            status, text = elsewhere
            return PlainTextResponse(text, status)
        given = headers.get("authorization", "").encode()
        if self._expected and not sum(secrets.compare_digest(given, item.encode()) for item in self._expected):
            asked = {"WWW-Authenticate": 'Basic realm="wikisum", charset="UTF-8"'}
            return PlainTextResponse("a password is needed", 401, headers=asked)
        return None
