"""Pages in small, as sites write them, with the licence that a person reads there (`claim_cases.json`, ours)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tasks.extraction.markup import parse
from tasks.rights.claims import page_claim

CASES = json.loads(Path(__file__).with_name("claim_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_licence_of_a_page(case: dict[str, str]) -> None:
    claim = page_claim(case["html"], parse(case["html"]))
    assert (None if claim is None else claim.licence) == case["licence"]


def test_sentences_in_ten_languages() -> None:
    """`stated_licences.tsv` (ours): language, licence of the page or "-", sentence. Some are missed; none is wrong."""
    right, all_of_them, wrong = Counter[str](), Counter[str](), []
    for line in Path(__file__).with_name("stated_licences.tsv").read_text(encoding="utf-8").splitlines():
        language, licence, sentence = line.split("\t")
        page = f"<p>The river rises on the moors.</p><p>{sentence}</p>"
        claim = page_claim(page, parse(page))
        found = "-" if claim is None else claim.licence
        all_of_them[language] += licence != "-"
        right[language] += found == licence != "-"
        if found not in ("-", licence):
            wrong.append(sentence)
    assert wrong == []
    assert len(all_of_them) == 10
    assert {language: f"{right[language]} of {number}" for language, number in all_of_them.items()} == {
        **dict.fromkeys(("en", "de", "fr", "nl", "es", "it", "pt"), "6 of 6"),
        "sv": "9 of 10",
        "ru": "10 of 11",
        "pl": "6 of 8",
    }
