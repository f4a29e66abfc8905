"""The labels of sentences that were read, and what the study says of them."""

import csv
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "benchmarks" / "studies" / "extractors.md"


@pytest.mark.parametrize(
    ("corpus", "summaries"),
    [
        ("wikigraph", "15 of sections, first rules"),
        ("scisummnet", "10 of papers, first rules"),
        ("wikigraph-again", "16 of other sections, after rules for what stands alone"),
        ("scisummnet-again", "8 of papers, after the same"),
        ("wikigraph-third", "16 of sections, rules of 24 November"),
        ("freshwiki", "9 of FreshWiki"),
        ("wikigraph-fourth", "5 of sections, before the likeness with other sources"),
        ("freshwiki-again", "2 of FreshWiki, before it"),
        ("scisummnet-third", "2 of papers, before it"),
        ("piles", "6 of files (PDF, Word, EPUB, German pages, notes), before it"),
        ("wikigraph-fifth", "5 of other sections, today's rules"),
        ("freshwiki-third", "2 of FreshWiki, today's rules"),
        ("scisummnet-fourth", "1 of papers, today's rules"),
        ("piles-again", "2 of files (PDF, German pages), today's rules"),
    ],
)
def test_the_study_says_what_was_labelled(corpus: str, summaries: str) -> None:
    with Path(__file__).with_name("read_by_eye.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["corpus"] == corpus]
    counts = (len(rows), *(sum(row[name] == "1" for row in rows) for name in ("on_topic", "stands_alone")))
    assert f"| {summaries} | {' | '.join(map(str, counts))} |" in PAGE.read_text(encoding="utf-8")
