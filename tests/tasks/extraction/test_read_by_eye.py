"""The labels of paragraphs that were read, and what the study says of them."""

import csv
from collections import Counter
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "benchmarks" / "studies" / "main_text.md"


@pytest.mark.parametrize("change", ["lost", "gained"])
def test_the_study_says_what_was_labelled(change: str) -> None:
    with Path(__file__).with_name("read_by_eye.csv").open(encoding="utf-8", newline="") as file:
        labels = Counter(row["label"] for row in csv.DictReader(file) if row["change"] == change)
    counts = (labels.total(), labels["prose"], labels["comment"], labels["junk"])
    assert f"| {change} | {' | '.join(map(str, counts))} |" in PAGE.read_text(encoding="utf-8")
