"""The frozen test split: which articles and paragraphs are copied."""

import pyarrow as pa

from storage.schemas import ARTICLES, INTAKE, PARAGRAPHS
from tasks.articles.articles import merge_articles
from tasks.retraining.splits import find_kept_out, freeze_articles, freeze_paragraphs
from tests.tasks.ranking.ranker_world import InMemory, articles, paragraphs


def corpus() -> InMemory:
    """Four shards; in each an article of every kind."""
    shards = []
    for shard in range(4):
        ids = {kind: f"{shard}-{kind}" for kind in ("test", "bare", "dropped", "train", "second")}
        about = articles(
            {"article_id": ids["bare"], "split": "test"},  # no paragraph is kept
            {"article_id": ids["dropped"], "split": "test", "drop_reason": "empty_lead"},
            {"article_id": ids["second"], "split": "test", "lead": f"second {shard}"},
            {"article_id": ids["test"], "split": "test", "lead": f"test {shard}"},
            {"article_id": ids["train"], "split": "train", "lead": f"train {shard}"},
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
    world = corpus()
    every = [(about,) for about, _ in world.shards]
    about = freeze_articles(world, every, shard=shard, of=of, articles=most, seed=1)  # type: ignore[arg-type]
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


def test_an_article_whose_lead_is_learned_from_under_another_title_is_not_frozen() -> None:
    about = articles({"article_id": "a", "split": "test", "lead": "One."}, {"article_id": "b", "split": "test"})
    texts = paragraphs(("a", 0, "x", None), ("b", 0, "y", None))
    for split, reason, frozen in (
        ("train", None, ["b"]),
        ("valid", None, ["b"]),
        ("test", None, ["a", "b"]),
        ("train", "no_sources", ["a", "b"]),
    ):
        twin = articles({"article_id": "c", "split": split, "lead": "one", "drop_reason": reason})
        found = freeze_articles(
            InMemory([(about, texts)]),
            [(about,), (twin,)],
            shard=0,
            of=1,
            articles=9,
            seed=1,  # type: ignore[arg-type]
        )
        assert found["article_id"].to_pylist() == frozen, (split, reason)


def intake(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([{"split": "train", "lead": "x", **row} for row in rows], INTAKE.schema)


def test_rows_that_are_a_frozen_article_in_any_version_are_not_learned_from() -> None:
    frozen = [
        (articles({"article_id": "a", "lead": "Ada was a mathematician.", "split": "test"}),),
        (articles({"article_id": "b", "lead": "The Aa is a river.", "split": "test"}),),
    ]
    parts = intake(
        {"article_id": "f", "lead": "The Aa is\na river"},  # b under another title
        {"article_id": "a", "lead": "Ada was a mathematician and writer."},  # the source decides otherwise
        {"article_id": "b", "lead": "The Aa is a river.", "split": "valid"},  # to choose a model is to learn from it
        {"article_id": "a", "lead": "Ada was a mathematician.", "split": "test"},  # as it was
        {"article_id": "c", "lead": "ADA was a mathematician", "split": "test"},  # renamed, and tested on still
        {"article_id": "d", "lead": "The Aa is a river in Latvia."},  # b, renamed and edited
        {"article_id": "g", "lead": "Grace was a programmer."},
        {"article_id": "e", "lead": "The Aa is a river.", "drop_reason": "no_sources"},
    )
    refused = find_kept_out(parts, frozen)
    assert refused.schema == ARTICLES.schema
    assert refused["article_id"].to_pylist() == ["a", "b", "d", "f"]
    merged = merge_articles(parts, refused).select(["article_id", "split", "drop_reason"]).to_pylist()
    assert [tuple(row.values()) for row in merged] == [
        ("a", "train", "frozen_test_article"),
        ("a", "test", None),
        ("b", "valid", "frozen_test_article"),
        ("c", "test", None),
        ("d", "train", "frozen_test_article"),
        ("e", "train", "no_sources"),
        ("f", "train", "frozen_test_article"),
        ("g", "train", None),
    ]
    nobody = find_kept_out(parts, [])
    assert nobody.num_rows == 0
    assert merge_articles(parts, nobody).equals(merge_articles(parts))
