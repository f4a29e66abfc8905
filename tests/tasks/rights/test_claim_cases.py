"""Pages in small, as sites write them, with the licence that a person reads there (`claim_cases.json`, ours)."""

import json
from pathlib import Path

import pytest

from tasks.extraction.markup import parse
from tasks.rights.claims import page_claim

CASES = json.loads(Path(__file__).with_name("claim_cases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_licence_of_a_page(case: dict[str, str]) -> None:
    claim = page_claim(case["html"], parse(case["html"]))
    assert (None if claim is None else claim.licence) == case["licence"]
