"""SummaC, NED and citations by entailment, worked out by hand with a rule in place of a model."""

from collections.abc import Sequence

import numpy as np
import pytest

from tasks.evaluation.entailment import Pair, entailing_pages, prepare, summac
from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Floats, Summary

ALL = COMPUTED["entailment"]
ARTICLE = ArticleTexts(
    title="River Nilir",
    lead="The River Nilir is long.",
    ranked=["It is 395 kilometres long. It is old.", "Anna Berg came.", "Otto Lund has 12 mills."],
    sources=["Eva Sand came."],
    pages=["a", "b", "a"],
)


class Words:
    """P(entailment) is the share of a hypothesis' words that a premise holds; it is contradicted by `not`."""

    def __init__(self) -> None:
        self.asked: list[Pair] = []
        self.batches = 0

    def __call__(self, pairs: Sequence[Pair]) -> Floats:
        self.asked += pairs
        self.batches += 1
        return np.array([[self._share(*pair), "not" in pair[0].split()] for pair in pairs], np.float32)

    @staticmethod
    def _share(premise: str, hypothesis: str) -> float:
        words = set(hypothesis.strip(".").split())
        return len(words & set(premise.replace(".", " ").split())) / len(words)


def scores(text: str, *, article: ArticleTexts = ARTICLE, read: int | None = None) -> dict[str, float]:
    score = prepare(article, ALL, entailment=Words())
    return {name: found.value for name, found in score(Summary(text, read)).items()}


def test_summac_is_the_mean_of_the_best_probability_of_each_sentence() -> None:
    """[sentence, text, (entailment, contradiction)]: .9 and .4."""
    table = np.array([[[0.2, 0.1], [0.9, 0.95]], [[0.4, 0.0], [0.3, 0.0]]])
    assert summac(table) == pytest.approx((0.9 + 0.4) / 2)
    assert summac(np.zeros((2, 0, 2))) == 0.0  # nothing was read


def test_ned_counts_pages_whose_best_entailment_exceeds_their_worst_contradiction_by_half() -> None:
    """Page a of two texts: .9 - .3 counts, .9 - .4 = .5 does not; page b: .51 counts, .2 does not."""
    table = np.array([[[0.9, 0.0], [0.51, 0.0], [0.1, 0.3]], [[0.9, 0.4], [0.2, 0.0], [0.0, 0.0]]])
    assert entailing_pages(table, ["a", "b", "a"], 0.5) == 2 / 2
    assert entailing_pages(table[:1], ["a", "b", "a"], 0.5) == 2.0
    assert entailing_pages(table, ["a", "b", "a"], 0.2) == 3 / 2
    assert entailing_pages(np.zeros((1, 0, 2)), [], 0.5) == 0.0


def test_a_summary_is_held_against_what_was_read() -> None:
    text = "It is 395 kilometres long. Otto Lund has 12 mills."
    assert scores(text)["summac"] == 1.0
    assert scores(text)["ned"] == 1.0
    assert scores(text, read=2)["summac"] == 0.5
    assert scores(text, read=2)["ned"] == 0.5
    assert scores("It was 395 miles wide.")["ned"] == 0.0  # 2 of its 5 words
    assert scores("It was 395 miles wide.")["ned-0.2"] == 1.0


def test_citations_are_entailed_by_all_texts_together_and_needless_as_alce_has_it() -> None:
    """Cited by values: 1 and 2 for the first sentence, which entail 4 of its 5 words; 2 for the second, 2 of 5."""
    found = scores("Anna Berg saw 12 mills. Otto Lund wrote no book.")
    assert found["citation-recall-entailed"] == 1 / 2
    assert found["citation-precision-entailed"] == 2 / 3


def test_the_title_is_known_to_every_citation() -> None:
    assert scores("River Nilir is 395.")["citation-recall-entailed"] == 1.0


def test_a_citation_that_entails_nothing_counts_against_precision() -> None:
    """Values are found in 0, but most words are not."""
    found = scores("Seen from here one might guess 395 kilometres.")
    assert (found["citation-recall-entailed"], found["citation-precision-entailed"]) == (0.0, 0.0)


def test_pages_that_are_not_known_have_no_ned_and_an_empty_summary_wins_nothing() -> None:
    unknown = ArticleTexts(ARTICLE.title, ARTICLE.lead, ARTICLE.ranked, ARTICLE.sources)
    assert "ned" not in scores("It is old.", article=unknown)
    assert scores("") == {"summac": 0.0, "citation-recall-entailed": 0.0, "citation-precision-entailed": 0.0}
    assert set(scores("It is old.")) == set(ALL)


def test_nothing_read_entails_nothing() -> None:
    bare = ArticleTexts(ARTICLE.title, ARTICLE.lead, [], [])
    assert scores("It is 395 kilometres long.", article=bare) == {
        "summac": 0.0,
        "citation-recall-entailed": 0.0,
        "citation-precision-entailed": 0.0,
    }


def test_only_what_is_wanted_is_asked_and_nothing_twice() -> None:
    model = Words()
    score = prepare(ARTICLE, ["summac"], entailment=model)
    assert set(score(Summary("It is old. It is old."))) >= {"summac"}
    score(Summary("Otto came. It is old."))
    assert model.asked == [(text, claim) for claim in ("It is old.", "Otto came.") for text in ARTICLE.ranked]


def test_a_summary_is_asked_about_in_two_goes_however_many_citations_it_has() -> None:
    """Once for all sentences and paragraphs, once for all sets of citations: 3 of the first, 1 of the second."""
    model = Words()
    score = prepare(ARTICLE, ALL, entailment=model)
    score(Summary("Anna Berg saw 12 mills. Otto Lund wrote no book."))
    assert model.batches == 2
    assert len(model.asked) == 2 * 3 + 3 + 1
