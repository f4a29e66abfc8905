"""Search with BM25 in the pages of a corpus."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from storage.errors import CorruptShardError
from storage.schemas import DOCUMENTS
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tasks.search.search import local_notes
from tasks.search.settings import WebSearchSettings
from tests.tasks.search.test_search import articles, found

PAGES = {
    "http://mill.test/": ("The mill", ["The mill stands at the river.", "It was built in 1847 for the town."]),
    "http://lock.test/": ("A lock", ["The lock of the river mill is of oak, as the mill is."]),
    "http://zoo.test/": ("Äpfel", ["Nothing of it."]),
}


def documents(*, pages: dict[str, tuple[str, list[str]]], day: int) -> pa.Table:
    rows: list[dict[str, Any]] = [
        {"article_id": id_, "article_shard": 0, "url": url, "title": title, "paragraphs": paragraphs}
        for id_ in ("a", "b")  # two articles have each page
        for url, (title, paragraphs) in pages.items()
    ]
    gone = {"article_id": "b", "article_shard": 0, "url": "http://gone.test/", "title": "Mill", "reason": "http_404"}
    return pa.Table.from_pylist([*rows, gone], DOCUMENTS.schema)


def corpus(root: Path, pages: dict[str, tuple[str, list[str]]], day: int = 1) -> str:
    run = Run(Store(str(root)), Executor())
    run.stage(Recipe(DOCUMENTS, documents, arguments={"pages": pages, "day": day}), shards=1, inputs={})
    run.record_build({})
    return str(root)


def test_pages_of_a_corpus_are_found_by_their_words_best_first(tmp_path: Path) -> None:
    root = corpus(tmp_path, PAGES)
    rows = found(articles("Mill, built in 1847", "ÄPFEL", "Nowhere"), provider="bm25", engine=root)
    assert [row[1:] for row in rows] == [
        ("http://mill.test/", 0, "bm25", None),
        ("http://lock.test/", 1, "bm25", None),
        ("http://zoo.test/", 0, "bm25", None),
        (None, 0, "bm25", "no_results"),
    ]
    assert len(found(articles("Mill, built in 1847"), provider="bm25", engine=root, results=1)) == 1


def test_other_pages_are_another_search(tmp_path: Path) -> None:
    same, other = (corpus(tmp_path / name, PAGES, day) for name, day in (("same", 1), ("another day", 2)))
    fewer = corpus(tmp_path / "fewer", dict(list(PAGES.items())[:2]))
    digests = [local_notes(WebSearchSettings(provider="bm25", engine=root)) for root in (same, other, fewer)]
    assert digests[0] == digests[1] != digests[2]


def test_a_root_without_a_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"search\.engine is '.*nothing': expected the root of a corpus"):
        local_notes(WebSearchSettings(provider="bm25", engine=str(tmp_path / "nothing")))
    with pytest.raises(ValidationError, match=r"search\.provider is 'bm25': expected search\.engine to be set"):
        WebSearchSettings(provider="bm25")


def test_a_damaged_corpus_ends_the_search(tmp_path: Path) -> None:
    root = corpus(tmp_path, PAGES)
    (file,) = (tmp_path / "documents").glob("part-*.parquet")
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CorruptShardError, match=r"documents/part-00000\..*\.parquet"):
        found(articles("Mill"), provider="bm25", engine=root)
