"""One HTTP request: send it safely, read the answer within limits, and name its faults. Redirects are not followed
here; `visit.py` follows them hop by hop, so that each hop is checked, polite and obeys its host's robots.txt."""

import contextlib
import http.client
import logging
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import IO, Any

import requests
from requests.cookies import RequestsCookieJar
from urllib3 import BaseHTTPResponse
from urllib3 import exceptions as faults
from urllib3.response import GzipDecoderState
from urllib3.util import Retry
from urllib3.util.request import ACCEPT_ENCODING

from tasks.fetching.reasons import PageReason, http_reason
from tasks.fetching.safety import FetchError, Guard, GuardedAdapter
from tasks.fetching.settings import CrawlSettings

logger = logging.getLogger(__name__)

# Statuses after which a server may soon answer differently.
TRANSIENT_STATUS = frozenset({429, 500, 502, 503, 504})
_CONNECT_SECONDS = 10.0  # to one address, TLS included
_BLOCK = 65_536
# A larger body waits in a temporary file until its row is made: thirty-two connections with ten megabytes each, twice
# while blocks are joined, would take most of a shard's memory.
_IN_MEMORY_BYTES = 256 << 10
_REFUSED_BODY_BYTES = 65_536  # of an error page or redirect: enough to keep the connection, no more


@dataclass(frozen=True)
class Response:
    """The response to one request."""

    url: str  # the requested URL
    status: int  # HTTP status
    headers: Mapping[str, str]  # response headers, names lower-case, values of repeated headers joined by commas
    content: bytes | IO[bytes]  # decoded body; empty if it was refused or incomplete
    received: int  # decoded body bytes read, also if the body was refused
    fault: FetchError | None  # the error after the headers, or None
    arrived: float | None  # time of the last byte, seconds since 1970; for a capture its date, None if that is unknown
    refusal: bytes = b""  # the body of a status that is not a success, its first 64 kB

    @property
    def body(self) -> bytes:
        """The decoded body; a large one is read from disk each time. Raises OSError: that cannot be read."""
        if isinstance(self.content, bytes):
            return self.content
        self.content.seek(0)
        return self.content.read()

    @property
    def success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def location(self) -> str | None:
        """Target of a redirect, as written; empty if the header is missing; None if this is not a redirect."""
        if self.status not in (301, 302, 303, 307, 308):
            return None
        raw = self.headers.get("location", "")
        try:
            return raw.encode("latin-1").decode("utf-8")  # http.client reads headers as Latin-1
        except UnicodeError:
            return raw

    @property
    def retry_after(self) -> float | None:
        """Seconds that Retry-After asks for, or None."""
        header = self.headers.get("retry-after")
        if header is None:
            return None
        try:
            return max(0.0, float(Retry().parse_retry_after(header)))
        except (faults.InvalidHeader, ValueError, OverflowError):
            return None

    @property
    def setback(self) -> FetchError | None:
        """Its fault, or a fault for a temporary status; None for a final answer."""
        if self.fault is None and self.status in TRANSIENT_STATUS:
            return FetchError(http_reason(self.status), self.url, transient=True, retry_after=self.retry_after)
        return self.fault


def retry_wait(failures: int, asked: float | None, first: float, longest: float) -> float:
    """Return the seconds before a retry: those of Retry-After, else a time that doubles with each failure."""
    return min(longest, first * 2.0**failures if asked is None else asked)


# Called with status, headers and the first bytes of a success; returns a reason to refuse the body, or None.
Inspector = Callable[[int, Mapping[str, str], bytes | None], str | None]


class _Session(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return None: otherwise requests would read a redirect's body, however long it is."""
        return None


@dataclass(frozen=True)
class Patience:
    """How long to wait for a server, and how often to ask again; the defaults are those of the crawl. Times are
    seconds."""

    total_seconds: float = 60.0  # limit for one answer, from request to last byte
    retries: int = 2  # further requests after a failure that may be temporary
    backoff_seconds: float = 1.0  # wait before the first retry; each further wait is twice as long
    max_backoff_seconds: float = 60.0  # longest wait before a retry; a longer Retry-After is cut to it
    read_seconds: float = 20.0  # limit for a single wait for data
    failures: int = 20  # of requests in a row, after which the host or service is asked for nothing else
    longest_crawl_delay: float = 30.0  # pages of a host that asks for a longer Crawl-delay are not fetched


class Client:
    """Sends requests that may go to hostile servers; usable from many threads."""

    def __init__(
        self,
        settings: CrawlSettings,
        guard: Guard,
        patience: Patience,
        *,
        keep_cookies: bool = False,
        host_connections: int = 1,
    ) -> None:
        """Make the client; `keep_cookies` sends cookies back to the host that set them: a crawl keeps none beyond a
        visit. `host_connections`: kept open to one host."""
        self._settings = settings
        self._patience = patience
        self._guard = guard
        self._session = _Session()
        self._session.trust_env = False  # no proxy and no .netrc from the environment
        allowed: list[str] | None = None if keep_cookies else []
        self._session.cookies = RequestsCookieJar(policy=DefaultCookiePolicy(allowed_domains=allowed))
        self._session.headers.clear()
        self._session.headers.update(
            {
                "User-Agent": settings.user_agent_header,
                "Accept-Encoding": ACCEPT_ENCODING,
                "Accept-Language": "en,*;q=0.5",
            }
        )
        adapter = GuardedAdapter(
            guard,
            hosts=max(settings.connections * 2, 16),
            connections_per_host=host_connections,
            ca_bundle=settings.ca_bundle,
        )
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._session.close()

    def request(
        self,
        url: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        cut: bool = False,
        inspect: Inspector | None = None,
        heard: Callable[[bytes], None] | None = None,
        cookies: RequestsCookieJar | None = None,
    ) -> Response:
        """Send one GET request, or a POST request with a `body`, which must do no harm twice; read the answer within
        the client's limits. `max_bytes` limits the decoded body; a longer one is cut there if `cut`, else refused.
        `inspect` is called with None when the headers of a success have arrived, and with the first bytes of the body;
        if it returns a reason, the body is refused. `heard` is called with each part of a success as it comes.
        `cookies` are sent where their hosts are asked, and take those of the response. Raises FetchError: the server
        gave none."""
        self._guard.current.deadline = time.monotonic() + self._patience.total_seconds
        try:
            answer = self._sent(url, dict(headers or {}), body, cookies)
            limit = self._settings.max_bytes if max_bytes is None else max_bytes
            return _received(url, answer, limit, cut, inspect, heard)
        finally:
            self._guard.current.deadline = None

    def _sent(
        self, url: str, headers: dict[str, str], body: bytes | None, cookies: RequestsCookieJar | None
    ) -> requests.Response:
        """Send a request, and again for each kept connection that the server had already closed."""
        while True:
            self._guard.current.reused = False
            try:
                with named_faults():
                    answer = self._session.request(
                        "GET" if body is None else "POST",
                        url,
                        data=body,
                        headers=headers,
                        cookies=cookies,
                        stream=True,
                        allow_redirects=False,
                        timeout=(_CONNECT_SECONDS, self._patience.read_seconds),
                    )
                    if cookies is not None:
                        cookies.update(answer.cookies)
                    return answer
            except FetchError as fault:
                if fault.reason != PageReason.CONNECTION_RESET or not self._guard.current.reused:
                    raise


def _received(
    url: str,
    answer: requests.Response,
    limit: int,
    cut: bool,
    inspect: Inspector | None,
    heard: Callable[[bytes], None] | None,
) -> Response:
    raw: BaseHTTPResponse = answer.raw
    headers = {name.lower(): value for name, value in raw.headers.items()}
    body: bytes | IO[bytes] = b""
    refusal = b""
    received, fault = 0, None
    try:
        if raw.status == http.client.PARTIAL_CONTENT and "Range" not in answer.request.headers:
            raw.close()
            raise FetchError(PageReason.PARTIAL_CONTENT, url)
        if 200 <= raw.status < 300:
            check = None if inspect is None else lambda start: inspect(raw.status, headers, start)
            body, received = read_body(raw, limit, cut=cut, check=check, heard=heard)
        else:  # the body of an error page is not used, so its faults do not count
            with contextlib.suppress(FetchError):
                page, received = read_body(raw, min(limit, _REFUSED_BODY_BYTES), cut=True)
                page.seek(0)
                refusal = page.read()
    except FetchError as error:
        fault, received = error, error.received
    return Response(url, raw.status, headers, body, received, fault, time.time(), refusal)


def read_body(
    raw: BaseHTTPResponse,
    limit: int,
    *,
    cut: bool = False,
    decode: bool = True,
    check: Callable[[bytes | None], str | None] | None = None,
    heard: Callable[[bytes], None] | None = None,
) -> tuple[IO[bytes], int]:
    """Read a body block by block, decompressing at most a block beyond the limit; return it and its decoded bytes.
    Afterwards `raw` is closed, or its connection returned to the pool. `cut`: stop at the limit instead of refusing.
    `decode`: undo the Content-Encoding; `check` is called with None at once and then with the first kilobyte, and may
    return a reason to refuse; `heard` is called with each block. Raises FetchError: it is refused, broken or cut;
    OSError: the temporary folder is full."""
    # Deleted at the latest with this object.
    body = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, prefix="wikisum-")  # noqa: SIM115
    received, start, complete = 0, b"", False
    try:
        if check is not None:
            _refuse(check(None), 0)
        while True:
            with named_faults(received):
                block = _next_block(raw, min(_BLOCK, limit + 1), decode)
            body.write(block)
            received += len(block)
            if heard is not None and block:
                heard(block)
            if check is not None:
                start += block
                if received >= 1024 or not block:
                    _refuse(check(start[:1024]), received)
                    check = None
            if not block:
                if decode and not _has_ended(raw):
                    raise FetchError(PageReason.TRUNCATED_BODY, "compressed data", transient=True, received=received)
                complete = True
                return body, received
            if received > limit or raw.tell() > 2 * limit + _BLOCK:
                if not cut:
                    raise FetchError(PageReason.TOO_LARGE, f"more than {limit} bytes", received=received)
                body.truncate(min(limit, received))
                return body, received
    finally:
        if complete:
            raw.release_conn()
        else:
            raw.close()


def _next_block(raw: BaseHTTPResponse, size: int, decode: bool) -> bytes:
    try:
        return raw.read1(size, decode_content=decode) or b""
    except faults.DecodeError as error:
        if raw._decoder is None or len(error.args) > 1:  # an error in the data, and the decoder's own as its cause
            raise
        return b""  # only zstd reports data that end too early; `_has_ended` checks it for all


def _has_ended(raw: BaseHTTPResponse) -> bool:
    """Tell whether compressed data are complete at the end of a body: a cut one may have any length."""
    if raw._decoder is None or raw.tell() == 0:
        return True
    for decoder in getattr(raw._decoder, "_decoders", [raw._decoder]):
        stream = decoder._obj  # no public place says it
        ended = stream.is_finished() if hasattr(stream, "is_finished") else stream.eof  # brotli, or one like zlib
        # Bytes after a gzip member that do not begin another one are padding.
        if not ended and getattr(decoder, "_state", None) != GzipDecoderState.SWALLOW_DATA:
            return False
    return True


def _refuse(reason: str | None, received: int) -> None:
    if reason is not None:
        raise FetchError(reason, received=received)


@contextlib.contextmanager
def named_faults(received: int = 0) -> Iterator[None]:
    """Turn any exception of the client libraries into a fault with a reason."""
    try:
        yield
    except FetchError:
        raise
    except Exception as error:
        named = _name(error)
        if named is None:
            raise
        reason, transient = named
        raise FetchError(reason, error, transient=transient, received=received) from error


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        current = waiting.pop()
        if isinstance(current, BaseException) and id(current) not in seen:
            seen.add(id(current))
            yield current
            waiting += [current.__context__, current.__cause__, getattr(current, "reason", None), *current.args]


# The first line that matches any error of the chain decides, so special types come before their base classes.
_NAMES: tuple[tuple[tuple[type[BaseException], ...], str, bool], ...] = (
    ((http.client.LineTooLong,), PageReason.HEADERS_TOO_LARGE, False),
    ((TimeoutError, faults.TimeoutError, requests.Timeout), PageReason.TIMEOUT, True),
    ((ssl.SSLCertVerificationError,), PageReason.TLS_ERROR, False),
    ((faults.DecodeError,), PageReason.BAD_ENCODING, False),
    ((http.client.RemoteDisconnected, ConnectionError, ssl.SSLEOFError), PageReason.CONNECTION_RESET, True),
    ((faults.IncompleteRead, http.client.IncompleteRead), PageReason.TRUNCATED_BODY, True),
    ((ssl.SSLError, faults.SSLError), PageReason.TLS_ERROR, False),
    ((faults.ProtocolError, http.client.HTTPException, faults.InvalidHeader), PageReason.MALFORMED_RESPONSE, False),
    ((faults.HTTPError, requests.RequestException, ValueError, OSError), PageReason.MALFORMED_RESPONSE, False),
)


def _name(error: Exception) -> tuple[str, bool] | None:
    chain = list(_causes(error))
    if any(isinstance(cause, http.client.HTTPException) and "headers" in str(cause) for cause in chain):
        return PageReason.HEADERS_TOO_LARGE, False
    for cause in chain:
        if isinstance(cause, FetchError):
            return cause.reason, cause.transient
    names = ((reason, transient) for kinds, reason, transient in _NAMES if any(isinstance(c, kinds) for c in chain))
    return next(names, None)
