"""Intake of articles: ids, splits, reasons, shards; and the merge of a shard."""

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from storage.schemas import ARTICLES, INTAKE
from tasks.articles.articles import intake_articles, merge_articles, read_articles
from tasks.engine.hashing import article_id, shard_of
from tasks.sources.choice import open_source
from tasks.sources.settings import RecordsSettings, SourceSettings
from tasks.sources.source import Article, ArticleReason, GivenDocument

GOOD = Article("Ada", "Ada was a mathematician.", ("http://a.test/",))


def intake(*articles: Article, search_will_follow: bool = False) -> pa.Table:
    return intake_articles(articles, "here", article_shards=4, seed=1, search_will_follow=search_will_follow)


def test_a_row_holds_what_the_source_said() -> None:
    article = Article("Ada", "Lead.", ("u1", "u2"), ("s1",), "valid", "g", "7", "CC0", page="4711")
    table = intake(article)
    assert table.schema.equals(INTAKE.schema, check_metadata=True)
    id_ = article_id("here", "Ada")
    assert table.to_pylist() == [
        {
            "article_id": id_,
            "title": "Ada",
            "lead": "Lead.",
            "references": ["u1", "u2"],
            "search_results": ["s1"],
            "split": "valid",
            "group": "g",
            "source": "here",
            "revision": "7",
            "licence": "CC0",
            "page": "4711",
            "drop_reason": None,
            "article_shard": shard_of(id_, 4),
        }
    ]


@pytest.mark.parametrize(
    ("article", "reason"),
    [
        (GOOD, None),
        (Article("Ada", " \n", ("u",)), "empty_lead"),
        (Article("  ", "Lead.", ("u",)), "empty_title"),
        (Article("Ada", "Lead.", ()), "no_sources"),
        (Article("Ada", "Lead.", (), ("s",)), None),
        (Article("Ada", "", (), drop_reason="redirect"), "redirect"),
        (Article("Ada", "Lead.", (), documents=(GivenDocument("u", None, ("Text.",)),)), None),
    ],
)
def test_reasons(article: Article, reason: str | None) -> None:
    assert intake(article)["drop_reason"].to_pylist() == [reason]


def test_an_article_may_lack_sources_when_a_search_will_find_some() -> None:
    assert intake(Article("Ada", "Lead.", ()), search_will_follow=True)["drop_reason"].to_pylist() == [None]


def test_splits_have_their_shares_and_hang_on_the_seed() -> None:
    articles = [Article(f"T{number}", "Lead.", ("u",)) for number in range(4000)]
    first = intake_articles(articles, "here", article_shards=1, seed=1)["split"].to_pylist()
    other = intake_articles(articles, "here", article_shards=1, seed=2)["split"].to_pylist()
    counts = Counter(first)
    assert abs(counts["train"] - 3200) < 100
    assert abs(counts["valid"] - 400) < 80
    assert first != other
    assert first == intake_articles(articles, "here", article_shards=9, seed=1)["split"].to_pylist()


def test_a_group_never_straddles_splits() -> None:
    articles = [Article(f"T{number}", "Lead.", ("u",), group=f"G{number % 30}") for number in range(300)]
    table = intake(*articles)
    splits = set(zip(table["group"].to_pylist(), table["split"].to_pylist(), strict=True))
    assert len(splits) == 30
    assert len({split for _, split in splits}) > 1


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="article 'Ada': split 'dev', expected one of train, valid, test"):
        intake(Article("Ada", "Lead.", ("u",), split="dev"))


def test_merge_sorts_and_keeps_the_first_of_a_title() -> None:
    first = intake(Article("B", "Second lead.", ("u1",)), Article("A", "Lead.", ("u2",)))
    second = intake(Article("B", "Other lead.", ("u3",)), Article("C", "", ("u4",)))
    merged = merge_articles(parts=pa.concat_tables([first, second]))
    assert merged.schema.equals(ARTICLES.schema, check_metadata=True)
    ids = merged["article_id"].to_pylist()
    assert ids == sorted(ids)
    rows = {(row["title"], row["references"][0]): row["drop_reason"] for row in merged.to_pylist()}
    assert rows == {("A", "u2"): None, ("B", "u1"): None, ("B", "u3"): "duplicate_title", ("C", "u4"): "empty_lead"}


def test_a_dropped_article_does_not_stand_in_the_way_of_a_usable_one() -> None:
    merged = merge_articles(intake(Article("A", "", ("u1",)), Article("A", "Lead.", ("u2",))))
    assert [(row["references"], row["drop_reason"]) for row in merged.to_pylist()] == [
        (["u1"], "empty_lead"),
        (["u2"], None),
    ]


def test_merge_of_nothing_is_an_empty_table() -> None:
    assert merge_articles(INTAKE.schema.empty_table()).to_pylist() == []


def test_a_partition_is_read_from_its_source(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"title": "A", "lead": "L.", "references": []}\n')
    source = SourceSettings(kind="records", records=RecordsSettings(paths=(str(file),)))
    (partition,) = open_source(source).partitions()
    table = read_articles(partition=partition, source=source, source_name="records", article_shards=1, seed=1)
    assert table.select(["title", "drop_reason"]).to_pylist() == [{"title": "A", "drop_reason": "no_sources"}]


def test_templates_left_out_of_leads_are_counted_with_the_commonest_by_name() -> None:
    articles = [
        Article("Ada", "Ada flows.", left_out={f"t{number}": 1 for number in range(25)} | {"ipa": 2}),
        Article("Bode", left_out={"ipa": 1}, drop_reason=ArticleReason.SHORT_LEAD),
    ]
    metadata = intake_articles(articles, "dump", article_shards=1, seed=1).schema.metadata
    tally = json.loads(metadata[b"tally"])
    assert tally["templates left out of leads"] == 28
    assert tally["of {{ipa}}"] == 3
    assert len(tally) == 1 + 20
