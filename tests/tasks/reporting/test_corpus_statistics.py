"""The size of a corpus, counted by hand."""

import pyarrow as pa

from storage.schemas import ARTICLES, PARAGRAPHS
from tasks.reporting.corpus_size import CorpusStatistics, corpus_statistics, statistics_table


def shard(
    leads: dict[str, tuple[str, str | None]], *paragraphs: tuple[str, str, str, str | None]
) -> tuple[pa.Table, pa.Table]:
    articles = [{"article_id": id_, "lead": lead, "drop_reason": reason} for id_, (lead, reason) in leads.items()]
    rows = [
        {"article_id": id_, "url": url, "text": text, "drop_reason": reason} for id_, url, text, reason in paragraphs
    ]
    return pa.Table.from_pylist(articles, ARTICLES.schema), pa.Table.from_pylist(rows, PARAGRAPHS.schema)


def test_means_are_over_the_used_articles_of_all_shards() -> None:
    shards = [
        shard(
            {"a": ("One two three.", None), "b": ("Refused.", "no_sources")},
            ("a", "u", "one two", None),
            ("a", "u", "three", "too_short"),
            ("a", "v", "four five six", "clone"),
        ),
        shard({"c": ("One.", None), "d": ("", None)}, ("c", "u", "seven eight", None)),
    ]
    assert corpus_statistics(shards) == CorpusStatistics(3, 1.0, 8 / 3, 2 / 3, 4 / 3, 4 / 3)
    assert corpus_statistics([]) == CorpusStatistics(0, 0, 0, 0, 0, 0)


def test_published_corpora_stand_below() -> None:
    table = statistics_table(CorpusStatistics(3, 2.84, 1792.6, 2, 900, 216.9), 3)
    shown = [[cell.text for cell in row] for row in table.rows]
    assert table.caption == "Size of the corpus, as in Shen et al. 2023, Table 1"
    assert shown[:3] == [
        ["this one", "3", "2.8", "1,793", "217"],
        ["this one, kept paragraphs", "3", "2.0", "900", "217"],
        ["Multi-News, published", "56 K", "2.8", "1,793", "217"],
    ]
    assert len(shown) == 12
