"""The benchmark of WiCE on two claims of our own."""

import gzip
import json
from pathlib import Path

import numpy as np

from benchmarks.verifiers.wice import Rows, by_folds, passages_of, read_claims


def test_a_page_becomes_passages_of_a_few_sentences(tmp_path: Path) -> None:
    evidence = ["(meta data) TITLE: The tower", "# Home", *(f"Sentence {n}." for n in range(5))]
    path = tmp_path / "claims.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"claim": "It leans.", "evidence": evidence, "label": "supported"}) + "\n")
    (claim,) = read_claims(path)
    assert passages_of(claim) == ["The tower\nHome\nSentence 0.\nSentence 1.\nSentence 2.", "Sentence 3.\nSentence 4."]


def test_true_and_false_sentences_weigh_the_same_and_strangers_are_left_out() -> None:
    passage = ["The tower in Leeds opened in 1874."]
    cases = [
        ("The tower in Leeds opened in 1874.", passage, True),
        ("The tower opened in 1874.", passage, True),
        ("The tower in Leeds closed in 1900.", passage, False),
        ("Otters swim.", passage, False),
    ]
    rows = Rows.of(cases)
    assert rows.true.tolist() == [True, True, False]
    assert rows.weights().tolist() == [1.5, 1.5, 3.0]


def test_no_claim_of_a_page_is_judged_by_a_forest_that_saw_the_page() -> None:
    generator = np.random.default_rng(0)
    true = np.arange(200) % 2 == 0
    pages = np.repeat(np.arange(100), 2)  # a true and a false claim each, alike but for noise
    page_only = np.repeat(generator.normal(size=(100, 1)), 2, axis=0).astype(np.float32)
    claims, places = Rows(page_only, true, ~true, np.arange(200)), np.arange(200)
    none = np.zeros(25, dtype=bool)
    parts = Rows(page_only[:50:2], none, none, places[:25])  # one of the page of each two claims
    others = [Rows(page_only[:20], true[:20], ~true[:20], places[:20])]
    scores = by_folds(claims, parts, [pages, pages[:50:2]], others, seed=0)
    assert np.ptp(scores[:200].reshape(100, 2), axis=1).max() == 0  # both claims of a page are in one fold
    assert scores[200:].tolist() == scores[:50:2].tolist()  # and so are its sub-claims
