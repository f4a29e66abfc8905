"""BM25 over the pages of a corpus that was built before, as a search provider."""

from collections.abc import Collection
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from storage.errors import StorageError
from storage.schemas import DOCUMENTS
from storage.store import Store
from tasks.engine.inputs import finished_build, finished_stage
from tasks.text.ngrams import split_words

if TYPE_CHECKING:
    from tasks.text.tfidf import BM25

_COLUMNS = ["url", "title", "paragraphs"]


class CorpusSearch:
    """Finds pages of a root's latest build by the words of their titles and paragraphs, all of them in memory."""

    name = "bm25"

    def __init__(self, root: str, _titles: Collection[str] = ()) -> None:
        """Find the pages' files. Raises ValueError: the root has no build with documents."""
        try:
            self._root, store = root, Store(root)
            self._files = finished_stage(store, finished_build(store, None), DOCUMENTS.name).in_order
        except (StorageError, ValueError) as error:
            raise ValueError(
                f"search.engine is {root!r}: expected the root of a corpus that was built: {error}"
            ) from error

    @classmethod
    def notes(cls, root: str) -> dict[str, str]:
        """Return the digest of the pages, which decide the results. Raises ValueError: as above."""
        digests = " ".join(file.written.digest for file in cls(root)._files)
        return {"corpus_digest": sha256(digests.encode()).hexdigest()}

    def search(self, query: str, results: int) -> list[str]:
        """Return the pages with words of the query, best first, of equals the first by URL. Raises CorruptShardError: a
        file is damaged."""
        urls, pages = _indexed(self._root, tuple((file.path, file.written.sha256) for file in self._files))
        scores = pages.scores(split_words(query, "unicode"))
        best = np.argsort(-scores, kind="stable")[:results]
        return [urls[page] for page in best if scores[page] > 0]

    def close(self) -> None:
        """Do nothing: the files are closed already."""


@lru_cache(maxsize=1)  # a process asks for many shards of articles
def _indexed(root: str, files: tuple[tuple[str, str], ...]) -> tuple[list[str], "BM25"]:
    """Return the pages' URLs, sorted, and what finds them."""
    from tasks.text.tfidf import BM25  # here, because a plan need not wait for it

    store = Store(root)
    words: dict[str, list[str]] = {}
    for path, digest in files:
        for batch in store.read_batches(path, digest, _COLUMNS):
            for row in batch.to_pylist():
                if row["url"] not in words and row["paragraphs"]:
                    words[row["url"]] = split_words("\n".join([row["title"] or "", *row["paragraphs"]]), "unicode")
    return sorted(words), BM25([words[url] for url in sorted(words)])
