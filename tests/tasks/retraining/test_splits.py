"""The second test split: what is new in a week, and how it stands beside the frozen one."""

from typing import Any

import pyarrow as pa

from storage.recipes import ShardRecord
from storage.schemas import ARTICLES, PARAGRAPHS
from storage.store import WrittenTable
from tasks.engine.hashing import shard_of
from tasks.engine.recipe import StageResult
from tasks.retraining.splits import HeldOutSplits, TestSplit, joined, new_articles, new_paragraphs
from tests.tasks.ranking.ranker_world import InMemory, articles, paragraphs


def tables(*rows: dict[str, Any]) -> list[tuple[pa.Table]]:
    """One ARTICLES table a row; the lead is the id's own unless it is given."""
    return [(articles({"lead": f"lead of {row['article_id']}", "split": "test", **row}),) for row in rows]


def test_what_was_in_no_split_a_week_ago_is_new() -> None:
    before = tables(
        {"article_id": "old"},
        {"article_id": "learned", "split": "train"},
        {"article_id": "lacked", "drop_reason": "no_sources"},
    )
    known = tables({"article_id": "pinned"})
    now = tables(
        {"article_id": "new"},
        {"article_id": "lacked"},  # of no use a week ago
        {"article_id": "old", "lead": "edited"},
        {"article_id": "learned"},  # the source decides otherwise now
        {"article_id": "renamed", "lead": "Lead of LEARNED"},
        {"article_id": "pinned", "lead": "edited too"},
        {"article_id": "back", "lead": "lead of pinned"},
        {"article_id": "dropped", "drop_reason": "no_sources"},
        {"article_id": "trained", "split": "train"},
        {"article_id": "twin", "lead": "lead of trained"},
    )
    found = new_articles(now, before, known, articles=9, seed=1)
    assert found.schema == ARTICLES.schema
    assert found["article_id"].to_pylist() == ["lacked", "new"]
    assert new_articles(now, before, known, articles=1, seed=1).num_rows == 1
    assert new_articles([], [], [], articles=1, seed=1).equals(ARTICLES.schema.empty_table())


def test_an_article_that_was_renamed_and_edited_is_not_new() -> None:
    lead = "The {} is a river in Latvia, {} kilometres long, which rises near {} and has {} mills."

    def cited(*names: str) -> list[str]:
        return [f"http://{name}.test/" for name in names]

    before = tables(
        {"article_id": "a", "lead": lead.format("Aa", 112, "Dobele", 14), "references": cited("aa"), "split": "train"},
        {"article_id": "b", "lead": lead.format("Gauja", 460, "Vecpiebalga", 31), "references": cited("g", "h")},
    )
    known = tables({"article_id": "c", "lead": lead.format("Svēte", 123, "Kurmėnai", 9)})
    now = tables(
        {"article_id": "d", "lead": lead.format("Aa", 113, "Dobele", 14), "references": cited("aa", "b")},
        {"article_id": "e", "lead": lead.format("Gauja", 460, "Cēsis", 31), "references": cited("g", "z")},
        {"article_id": "f", "lead": lead.format("Svēte", 123, "Kurmėnai", 9) + " It is cold."},
        {"article_id": "g", "lead": lead.format("Ogre", 188, "Madona", 22), "references": cited("ogre")},
        {"article_id": "h", "lead": lead.format("Salaca", 95, "Mazsalaca", 5), "references": cited("s")},
        {
            "article_id": "i",
            "lead": lead.format("Salaca", 95, "Mazsalaca", 6),
            "references": cited("s"),
            "split": "train",
        },
    )
    assert new_articles(now, before, known, articles=9, seed=1)["article_id"].to_pylist() == ["g"]


def test_only_the_shards_of_new_articles_are_read() -> None:
    ids = [f"{number:016x}" for number in range(20)]
    mine = [id_ for id_ in ids if shard_of(id_, 3) != 1][:4]
    shards: list[tuple[pa.Table, ...]] = [
        (
            paragraphs(
                *((id_, n, "x", None if n else "clone") for id_ in ids if shard_of(id_, 3) == s for n in (0, 1, 2))
            ),
        )
        for s in range(3)
    ]
    shards[1] = ()  # would fail
    found = new_paragraphs(articles(*({"article_id": id_} for id_ in mine)), InMemory(shards))  # type: ignore[arg-type]
    assert found.schema == PARAGRAPHS.schema
    rows = list(zip(found["article_id"].to_pylist(), found["paragraph_id"].to_pylist(), strict=True))
    assert rows == [(id_, n) for id_ in sorted(mine) for n in (1, 2)]


def result(stage: str, *keys: str, missing: int = 0) -> StageResult:
    records = {
        n: ShardRecord(stage, n, key, WrittenTable(1, 1, "", key), {}, {}, {}, 1, 0.0, 0) for n, key in enumerate(keys)
    }
    return StageResult(stage, range(len(keys) + missing), records)


def test_both_splits_are_judged_together_and_told_apart() -> None:
    weeks = {week: TestSplit(result("articles", f"a{week}"), result("paragraphs", f"p{week}")) for week in ("3", "4")}
    both = HeldOutSplits(TestSplit(result("articles", "a1", "a2"), result("paragraphs", "p1", "p2")), weeks)
    assert [record.key for record in both.articles.in_order] == ["a1", "a2", "a3", "a4"]
    assert [record.key for record in both.paragraphs.in_order] == ["p1", "p2", "p3", "p4"]
    apart = both.apart(result("scores", "s1", "s2", "s3", "s4"))
    assert {name: [record.key for record in part.in_order] for name, part in apart.items()} == {
        "frozen": ["s1", "s2"],
        "recent": ["s3", "s4"],
    }
    assert list(HeldOutSplits(both.frozen).apart(result("scores", "s1", "s2"))) == ["frozen"]


def test_a_shard_that_is_not_made_leaves_the_others_their_places() -> None:
    both = joined(result("articles", "a", missing=1), result("articles", "b"))
    assert (len(both.shards), {place: record.key for place, record in both.records.items()}) == (3, {0: "a", 2: "b"})
