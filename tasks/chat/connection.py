"""Requests to a server of language models: sends JSON, and receives a body or a stream whose silence has a limit."""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from tasks.chat.completions import TOO_LONG, ChatAnswer, NoAnswerError, Stream, completion, refused
from tasks.engine.closing import Closing
from tasks.fetching.credentials import authorization
from tasks.fetching.http import TRANSIENT_STATUS, retry_wait
from tasks.fetching.reasons import PageReason

logger = logging.getLogger(__name__)
_CONNECT_SECONDS = 10.0
_MOST_BYTES = 1_000_000  # of an answer
_EVENT = 40  # times as many where each token is an event
_LONGEST_WAIT = 120.0  # seconds before a retry, whatever the service asks for
_MOST_SILENCES = 20  # an answer takes at most so many times its limit of silence
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


class _ForNowError(NoAnswerError):
    """A retry may succeed; `wait` has the seconds that the server asks for."""

    def __init__(self, reason: str, words: str = "", wait: float | None = None) -> None:
        super().__init__(reason, words)
        self.wait = wait


class Connection(Closing):
    """Sends chats to one server; a context manager, usable from many threads."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        connections: int,
        silent_seconds: float,
        retries: int,
        backoff_seconds: float,
    ) -> None:
        """Make the connection. `url`: where chats are sent to. `key`: None = none. `connections`: requests at the same
        time. `silent_seconds`: limit for the next part of a stream, and for the whole of another answer. `retries`:
        further requests after one that failed for now, but not after a limit. `backoff_seconds`: wait
        before the first. Proxies are those of the environment, except for a server on this machine."""
        self._url, self._silent, self._retries, self._backoff = url, silent_seconds, retries, backoff_seconds
        host = urlsplit(url).hostname or ""
        basic = authorization(host)
        headers = {"Accept-Encoding": "identity"} | ({} if basic is None else {"Authorization": basic})
        self._client = httpx.Client(
            headers=headers | ({"Authorization": f"Bearer {key}"} if key else {}),
            timeout=httpx.Timeout(silent_seconds, connect=_CONNECT_SECONDS, pool=None),
            limits=httpx.Limits(max_connections=connections),
            trust_env=host not in _HERE,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def models(self) -> tuple[int, bytes]:
        """Return status and body of the list of models. Raises NoAnswerError: there is none."""
        with _Named(), self._client.stream("GET", self._url.replace("/chat/completions", "/models")) as answer:
            return answer.status_code, _body(answer, time.monotonic() + self._silent)

    def chat(self, body: Mapping[str, Any], heard: Callable[[int], None]) -> tuple[ChatAnswer, bool]:
        """Return the answer to a request, and whether it is whole: a stream that falls silent or repeats itself is cut
        and is not. `heard`: called with about how many tokens of a stream have come. Raises NoAnswerError: the server
        gave none."""
        failures = 0
        while True:
            try:
                return self._sent(body, heard)
            except _ForNowError as fault:
                if failures == self._retries or fault.hopeless:
                    raise NoAnswerError(fault.reason, fault.words) from fault
                wait = retry_wait(failures, fault.wait, self._backoff, _LONGEST_WAIT)
                logger.info("%s: %s; the next request in %.1f s", self._url, fault, wait)
            failures += 1
            time.sleep(wait)

    def _sent(self, body: Mapping[str, Any], heard: Callable[[int], None]) -> tuple[ChatAnswer, bool]:
        begun = time.monotonic()
        with _Named(), self._client.stream("POST", self._url, json=dict(body)) as answer:
            if not answer.is_success:
                fault = refused(answer.status_code, _body(answer, begun + self._silent))
                if answer.status_code in TRANSIENT_STATUS and fault.reason != TOO_LONG:
                    raise _ForNowError(fault.reason, fault.words, _retry_after(answer))
                raise fault
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                return self._streamed(answer, body, heard, begun)
            whole = _body(answer, begun + self._silent)
        try:
            return completion(json.loads(whole), body["messages"]), True
        except (ValueError, RecursionError):
            return completion(None, body["messages"]), True

    def _streamed(
        self, answer: httpx.Response, body: Mapping[str, Any], heard: Callable[[int], None], begun: float
    ) -> tuple[ChatAnswer, bool]:
        stream, stopped = Stream(), False
        try:
            for line in _lines(answer):
                stream.add(line)
                heard(stream.events)
                stopped = stream.looping or time.monotonic() > begun + _MOST_SILENCES * self._silent
                if stopped:
                    break
        except httpx.TimeoutException:
            if not stream.has_text:
                raise
            stopped = True
        except ValueError as error:  # it ends within an event
            raise _ForNowError(PageReason.TRUNCATED_BODY) from error
        if not (stream.ended or stopped):
            raise _ForNowError(PageReason.TRUNCATED_BODY)
        return stream.answer(body["messages"]), stream.ended


class _Named:
    """Turns the exceptions of the library into a NoAnswerError with a reason."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise the named error."""
        match error:
            case httpx.ConnectTimeout() | httpx.ConnectError():
                raise _ForNowError(PageReason.CONNECT_ERROR, str(error)) from error
            case httpx.TimeoutException():  # our own limit: a retry would take as long
                raise NoAnswerError(PageReason.TIMEOUT, "no more came within the limit of silence") from error
            case httpx.RemoteProtocolError() if "complete message body" in str(error) or "incomplete" in str(error):
                raise _ForNowError(PageReason.TRUNCATED_BODY) from error
            case httpx.NetworkError() | httpx.RemoteProtocolError():
                raise _ForNowError(PageReason.CONNECTION_RESET) from error
            case httpx.HTTPError() | httpx.InvalidURL():
                raise NoAnswerError(PageReason.MALFORMED_RESPONSE, str(error)[:200]) from error


def _lines(answer: httpx.Response) -> Iterator[str]:
    """Yield the lines of a stream; NoAnswerError: it, or one of them, is too long."""
    rest, received = b"", 0
    for part in answer.iter_bytes():
        received += len(part)
        if received > _EVENT * _MOST_BYTES or len(rest) > _MOST_BYTES:
            raise NoAnswerError(PageReason.TOO_LARGE)
        *lines, rest = (rest + part).split(b"\n")
        yield from (line.decode(errors="replace") for line in lines)
    yield rest.decode(errors="replace")


def _body(answer: httpx.Response, deadline: float) -> bytes:
    parts, received = list[bytes](), 0
    for part in answer.iter_bytes():
        parts.append(part)
        received += len(part)
        if received > _MOST_BYTES:
            raise NoAnswerError(PageReason.TOO_LARGE)
        if time.monotonic() > deadline:
            raise NoAnswerError(PageReason.TIMEOUT)
    return b"".join(parts)


def _retry_after(answer: httpx.Response) -> float | None:
    """Return the seconds that the server asks for; a date is not read, because clocks differ."""
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None
