"""The frozen test split: which articles and paragraphs are copied."""

import pyarrow as pa

from storage.schemas import ARTICLES, PARAGRAPHS
from tasks.retraining.frozen import freeze_articles, freeze_paragraphs
from tests.tasks.ranker_world import InMemory, articles, paragraphs


def corpus() -> InMemory:
    """Four shards; in each an article of every kind."""
    shards = []
    for shard in range(4):
        ids = {kind: f"{shard}-{kind}" for kind in ("test", "bare", "dropped", "train", "second")}
        about = articles(
            {"article_id": ids["bare"], "split": "test"},  # no paragraph is kept
            {"article_id": ids["dropped"], "split": "test", "drop_reason": "empty_lead"},
            {"article_id": ids["second"], "split": "test"},
            {"article_id": ids["test"], "split": "test"},
            {"article_id": ids["train"], "split": "train"},
        )
        texts = paragraphs(
            (ids["bare"], 0, "x", "clone"),
            (ids["second"], 0, "one", None),
            (ids["test"], 0, "x", "clone"),
            (ids["test"], 1, "two", None),
            (ids["test"], 2, "three", None),
            (ids["train"], 0, "four", None),
        )
        shards.append((about, texts))
    return InMemory(shards)


def frozen(shard: int, of: int, most: int) -> tuple[pa.Table, pa.Table]:
    about = freeze_articles(corpus(), shard=shard, of=of, articles=most, seed=1)  # type: ignore[arg-type]
    return about, freeze_paragraphs(about, corpus(), shard=shard, of=of)  # type: ignore[arg-type]


def test_test_articles_with_paragraphs_are_frozen_each_in_one_shard() -> None:
    about, texts = frozen(1, of=2, most=100)
    assert about.schema == ARTICLES.schema
    assert texts.schema == PARAGRAPHS.schema
    assert about["article_id"].to_pylist() == ["1-second", "1-test", "3-second", "3-test"]
    pairs = zip(texts["article_id"].to_pylist(), texts["paragraph_id"].to_pylist(), strict=True)
    assert list(pairs) == [("1-second", 0), ("1-test", 1), ("1-test", 2), ("3-second", 0), ("3-test", 1), ("3-test", 2)]
    assert frozen(0, of=2, most=100)[0]["article_id"].to_pylist() == ["0-second", "0-test", "2-second", "2-test"]


def test_no_more_articles_are_frozen_than_asked_for() -> None:
    few = [frozen(shard, of=2, most=3)[0]["article_id"].to_pylist() for shard in range(2)]
    assert [len(ids) for ids in few] == [2, 1]
    fewer = [frozen(shard, of=2, most=1)[0]["article_id"].to_pylist() for shard in range(2)]
    assert all(set(a) < set(b) for a, b in zip(fewer, few, strict=True))  # the lowest draws stay


def test_a_corpus_without_test_articles_gives_an_empty_split() -> None:
    about, texts = frozen(7, of=8, most=100)
    assert (about.num_rows, texts.num_rows) == (0, 0)
    assert (about.schema, texts.schema) == (ARTICLES.schema, PARAGRAPHS.schema)
