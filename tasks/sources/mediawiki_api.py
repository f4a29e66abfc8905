"""Queries to MediaWiki's action API, following its etiquette: serial, with a contact, with maxlag, and with retries.

The answers of a listing are kept on the root until it is done, so that an interrupted one goes on. A listing asks the
same questions in the same order, each with the token that the answer before it gave. So it is simply begun again: a
question whose answer is kept is not asked, and the first request goes on from the last token. The check before a run
keeps its answers for the run, which so reads the same revisions."""

import base64
import hashlib
import json
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from storage.store import Store
from tasks.crawl.http import Response
from tasks.crawl.safety import FetchError
from tasks.crawl.service import Patience, Service
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.urls import normalise_url
from tasks.engine.closing import Closing

# A wiki that cannot be reached ends the run, so the retries last long; Retry-After may ask for an hour.
PATIENCE = Patience(total_seconds=120.0, retries=8, backoff_seconds=2.0, max_backoff_seconds=3600.0)

_MAXLAG = 5  # seconds by which its databases may lag before it asks us to wait: what Wikimedia recommends
_MAX_ANSWER_BYTES = 64_000_000  # the API limits an answer to 8 MiB of text; escapes and markup are added to that
_TRANSIENT_ERRORS = frozenset({"maxlag", "ratelimited", "readonly"})


_FOLDER = "intake/.scratch-00000." + hashlib.sha256(b"listing").hexdigest()[:16]  # pruned like that of any shard
FLUSH_SECONDS = 1.0  # what a killed process asks again; files of an object store cannot be appended to
_MOST_SECONDS = 86_400.0  # of rest, after which a listing begins anew: its pages have been edited


class KeptAnswers:
    """Answers by the URL that was asked; for one writer at a time, which holds the root."""

    def __init__(self, store: Store, flush_seconds: float = FLUSH_SECONDS) -> None:
        """Take the root, and how long answers may wait to be written; nothing is read before the first question."""
        self._flush_seconds = flush_seconds
        self._store = store
        self._answers: dict[str, str] | None = None  # compressed: a listing of millions is in memory
        self._files = 0
        self._new: dict[str, str] = {}
        self._flushed = time.monotonic()

    def get(self, url: str) -> dict[str, Any] | None:
        """Return the answer to a question, None if it is not kept. Raises StorageError: the root cannot be read."""
        if self._answers is None:
            self._answers = self._read()
        found = self._answers.get(url)
        answer: dict[str, Any] | None = None if found is None else json.loads(zlib.decompress(base64.b64decode(found)))
        return answer

    def add(self, url: str, answer: dict[str, Any]) -> None:
        """Keep an answer; it is on the root within a second of the next one, or when `flush` returns. Raises
        StorageError: the root cannot be written."""
        assert self._answers is not None, "get comes first"
        self._new[url] = base64.b64encode(zlib.compress(json.dumps(answer).encode())).decode()
        if time.monotonic() - self._flushed >= self._flush_seconds:
            self.flush()

    def flush(self) -> None:
        """Write the new answers as a file of their own. Raises StorageError: the root cannot be written."""
        if self._new:
            assert self._answers is not None
            content = {"time": time.time(), "answers": self._new}
            self._store.write_bytes(f"{_FOLDER}/{self._files:06d}.json", json.dumps(content).encode())
            self._answers |= self._new
            self._files += 1
            self._new = {}
        self._flushed = time.monotonic()

    def forget(self) -> None:
        """Delete the answers, if any were asked for: the listing is done, and the next one begins anew. Raises
        StorageError: the root cannot be written."""
        if self._answers is not None:
            self._store.delete_folder(_FOLDER)
            self._answers, self._files, self._new = None, 0, {}

    def _read(self) -> dict[str, str]:
        found: dict[str, str] = {}
        latest = 0.0
        names = sorted(self._store.sizes(_FOLDER))
        try:
            for name in names:
                content = json.loads(self._store.read_bytes(f"{_FOLDER}/{name}"))
                found |= content["answers"]
                latest = max(latest, content["time"])
        except (ValueError, KeyError, TypeError):
            latest = 0.0  # damaged: as if they were too old
        if names and time.time() - latest > _MOST_SECONDS:
            self._store.delete_folder(_FOLDER)
            return {}
        self._files = len(names)
        return found


class MediaWikiError(ValueError):
    """The wiki answered a query with an error.

    Attributes:
        code: the wiki's code for the error.
        info: what it says about it."""

    def __init__(self, code: str, info: str) -> None:
        super().__init__(f"{code}: {info}")
        self.code = code
        self.info = info


class MediaWikiApi(Closing):
    """One wiki's interface; a context that closes its connection."""

    def __init__(
        self,
        url: str,
        connect_to: Mapping[str, str],
        *,
        contact: str,
        delay_seconds: float,
        patience: Patience = PATIENCE,
        token: str | None = None,
        kept: KeptAnswers | None = None,
    ) -> None:
        """Make the client. The user chose the `url` of api.php, so it may be on this machine or in a private network.
        Connections to a host of `connect_to` go to its `address:port`; a token is sent with every request and to no
        other host. New answers are added to those `kept` of an interrupted listing. Raises ValueError: the URL is not a
        web address, or a token would be sent to it unencrypted."""
        self._url = normalise_url(url, allowed_hosts=[urlsplit(url).netloc.lower()])
        if token is not None and not _is_private(self._url):
            raise ValueError(f"{self._url}: expected an https:// URL, since a token is sent to it")
        self._token = token
        self._kept = kept
        self._service = Service(
            self._url,
            CrawlSettings(contact=contact),
            patience,
            connect_to,
            delay_seconds=delay_seconds,
            keep_cookies=token is not None,  # a session spares the wiki to check the token
        )

    def close(self) -> None:
        """Close the connections, and keep the answers so far."""
        self._service.close()
        if self._kept is not None:
            self._kept.flush()

    def query(self, fields: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """Yield the parts of a query's answer, for as long as it continues. Raises ConnectionError: there is no answer;
        MediaWikiError: the wiki refuses the query."""
        going_on: dict[str, str] = {}
        while True:
            answer = self._answer({**fields, **going_on})
            part = answer.get("query", {})
            yield part if isinstance(part, dict) else {}
            if "continue" not in answer:
                return
            following = {name: str(value) for name, value in answer["continue"].items()}
            if following == going_on:
                raise MediaWikiError("continue", f"the answer continues at the same position again: {following}")
            going_on = following

    def _answer(self, fields: Mapping[str, str]) -> dict[str, Any]:
        """Send a query, and retry it while the wiki asks to wait."""
        fixed = {"action": "query", "format": "json", "formatversion": "2", "maxlag": str(_MAXLAG)}
        url = f"{self._url}?{urlencode({**fixed, **fields})}"
        answer = None if self._kept is None else self._kept.get(url)
        if answer is None:
            answer = self._asked(url)
            if self._kept is not None:
                self._kept.add(url, answer)
        return answer

    def _asked(self, url: str) -> dict[str, Any]:
        headers = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        try:
            return self._service.read(url, _answer_in, max_bytes=_MAX_ANSWER_BYTES, headers=headers)
        except FetchError as fault:
            raise ConnectionError(f"{self._url}: {self._without_token(fault)}") from None
        except ConnectionError as error:
            raise ConnectionError(self._without_token(error)) from None
        except MediaWikiError as error:
            raise MediaWikiError(error.code, self._without_token(error.info)) from None

    def _without_token(self, text: object) -> str:
        """Return a text that may repeat what was sent, without the token."""
        return str(text) if self._token is None else str(text).replace(self._token, "[token]")


def _is_private(url: str) -> bool:
    """Whether nobody else can read what is sent to a URL: it is encrypted, or stays on this machine."""
    return url.startswith("https://") or urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def _answer_in(response: Response) -> dict[str, Any]:
    """Return the answer in a response. Raises ConnectionError: it contains none; FetchError: the wiki asks to wait;
    MediaWikiError: the wiki refuses the query."""
    if not response.success:
        raise ConnectionError(f"{response.url}: HTTP {response.status}")
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError) as error:
        raise ConnectionError(f"{response.url}: expected JSON, got {response.body[:80]!r}") from error
    if not isinstance(answer, dict):
        raise ConnectionError(f"{response.url}: expected a JSON object, got {response.body[:80]!r}")
    refusal = answer.get("error")
    if not isinstance(refusal, dict):
        return answer
    code, info = str(refusal.get("code")), str(refusal.get("info"))
    if code in _TRANSIENT_ERRORS or code.startswith("internal_api_error"):
        raise FetchError(code, info, transient=True, retry_after=response.retry_after)
    raise MediaWikiError(code, info)
