"""The labels of sentences that were read, and what the guide says of them."""

import csv
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "figures.md"


def test_the_guide_says_what_was_labelled() -> None:
    with Path(__file__).with_name("read_by_eye.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for corpus, words in (
        (
            "wikigraph",
            "of {} sentences in 15 summaries of sections, by weights that had not seen their article, {} are on "
            "the topic and {} stand alone",
        ),
        ("scisummnet", "of {} in 10 summaries of papers {} and {}."),
        ("wikigraph-again", "of {} sentences in 16 summaries of other sections {} are on the topic and {} stand alone"),
        ("scisummnet-again", "of {} in 8 summaries of papers {} and {}."),
        (
            "wikigraph-third",
            "of {} sentences in 16 summaries of at most 110 words, two sections of each article, {} are on the topic "
            "and {} stand alone",
        ),
        ("freshwiki", "of {} in 9 summaries of FreshWiki {} and {}."),
    ):
        own = [row for row in rows if row["corpus"] == corpus]
        counts = (len(own), *(sum(row[name] == "1" for row in own) for name in ("on_topic", "stands_alone")))
        assert words.format(*counts) in text
