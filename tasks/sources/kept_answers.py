"""Answers of a wiki's listing, kept on the root until the listing is done, so that an interrupted one goes on.

A listing asks the same questions in the same order, each with the token that the answer before it gave. So it is simply
begun again: a question whose answer is kept is not asked, and the first request goes on from the last token. The check
before a run keeps its answers for the run, which so reads the same revisions."""

import base64
import hashlib
import json
import time
import zlib
from typing import Any

from storage.store import Store

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
