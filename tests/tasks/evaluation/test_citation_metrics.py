"""Citation recall and precision as ALCE's evaluation defines them, worked out by hand."""

from collections.abc import Sequence

import pytest

from tasks.evaluation.citations import citation_scores, prepare
from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Summary

ARTICLE = ArticleTexts(
    title="River Nilir",
    lead="The River Nilir is long.",
    ranked=["The river is 395 kilometres long.", "Anna Berg came in May.", "Otto Lund has 12 mills on the river."],
    sources=["Eva Sand came."],
)


def letters(premises: Sequence[str], sentence: str) -> bool:
    """Texts support a sentence if they hold all its letters."""
    return set(sentence) <= set("".join(premises))


def test_recall_counts_sentences_whose_citations_support_them_together() -> None:
    cited = [("ab", ["a", "b"]), ("ab", ["a"]), ("ab", []), ("c", ["cd"])]
    recall, precision = citation_scores(cited, letters)
    assert recall == 2 / 4
    assert precision == 3 / 4  # a, b and cd of four


def test_a_citation_is_needless_where_it_supports_nothing_and_the_others_suffice() -> None:
    assert citation_scores([("ab", ["ab", "x"])], letters) == (1.0, 1 / 2)
    assert citation_scores([("ab", ["a", "b", "b"])], letters) == (1.0, 1 / 3)  # either b goes, for the other stays


def test_a_citation_that_supports_by_itself_is_not_needless() -> None:
    assert citation_scores([("ab", ["ab", "abc"])], letters) == (1.0, 1.0)
    assert citation_scores([("ab", ["ab", "a"])], letters) == (1.0, 1 / 2)


def test_nothing_cited_has_no_precision_and_no_sentence_no_score() -> None:
    assert citation_scores([("ab", [])], letters) == (0.0, 0.0)
    with pytest.raises(ValueError, match="at least one sentence"):
        citation_scores([], letters)


def scores(text: str, read: int | None = None) -> dict[str, float]:
    return {name: score.value for name, score in prepare(ARTICLE, COMPUTED["citations"])(Summary(text, read)).items()}


def test_the_sentences_of_a_summary_are_cited_and_scored() -> None:
    """Said by 0; put together from 1 and 2; its values are in 2 alone; nothing of it is there."""
    text = (
        "The river is 395 kilometres long. Anna Berg came in May and Otto Lund has 12 mills. Otto Lund is 90. Eva Sand "
        "came."
    )
    assert scores(text) == {
        "said": 1 / 4,
        "copied": 1 / 4,
        "supported": 2 / 4,
        "citation-recall": 2 / 4,
        "citation-precision": 3 / 4,
    }
    assert scores(text, read=1) == {
        "said": 1 / 4,
        "copied": 1 / 4,
        "supported": 1 / 4,
        "citation-recall": 1 / 4,
        "citation-precision": 1,
    }


@pytest.mark.parametrize("text", ["Eva Sand came.", ""])
def test_a_summary_that_cites_nothing_scores_nothing_nor_does_an_empty_one(text: str) -> None:
    assert scores(text) == dict.fromkeys(COMPUTED["citations"], 0.0)


def test_a_sentence_that_repeats_another_is_not_said_again() -> None:
    once, twice = scores(ARTICLE.ranked[0]), scores(f"{ARTICLE.ranked[0]} {ARTICLE.ranked[0]}")
    assert (once["said"], once["copied"], once["supported"]) == (1.0, 1.0, 1.0)
    assert (twice["said"], twice["copied"], twice["supported"]) == (0.5, 0.5, 0.5)


def test_only_paragraphs_that_were_read_are_copied() -> None:
    assert scores(ARTICLE.ranked[1], read=1)["copied"] == 0.0
    assert scores(ARTICLE.ranked[1], read=2)["copied"] == 1.0


def test_all_metrics_are_listed() -> None:
    assert set(COMPUTED["citations"]) == set(scores("It is 3 miles long."))


def test_a_sentence_without_citations_is_not_supported_whatever_the_test_says() -> None:
    assert citation_scores([("a", [])], lambda premises, sentence: True) == (0.0, 0.0)
