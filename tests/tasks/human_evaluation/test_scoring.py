"""Scores from judgements: a planted order is recovered, chance is not taken for a difference."""

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom

from tasks.evaluation.significance import SIGNIFICANCE
from tasks.human_evaluation.answers import Judgement, judgements, read_answers
from tasks.human_evaluation.scoring import score_judgements, strengths, wins
from tests.tasks.human_evaluation.studies import SYSTEMS, chooser, filled, grader, study

PLANTED = {"ht": 1.5, "t-dmca": 0.75, "ft": 0.0, "lead": -1.0}
ALL_EQUAL = dict.fromkeys(SYSTEMS, 0.0)


def chosen(quality: dict[str, float], seed: int, raters: int = 5, texts: int = 3) -> list[Judgement]:
    """50 articles x 4 systems, judged by raters of one taste with their own noise."""
    of = study(articles=50, raters=raters, seed=seed, texts=texts)
    files = [(str(n), filled(of, n, chooser(quality, 1.0, 1000 * seed + n))) for n in of.forms]
    return judgements(read_answers(of, files))


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_the_planted_order_is_recovered(seed: int) -> None:
    (scores,) = score_judgements(chosen(PLANTED, seed), seed)
    assert list(scores.systems) == list(PLANTED)
    assert scores.strengths is not None
    assert sorted(scores.strengths, key=lambda system: -scores.strengths[system].mean) == list(PLANTED)
    assert all(scores.significant(pair) for pair in scores.comparisons)
    assert {(pair.better, pair.worse) for pair in scores.comparisons} == {
        (first, second) for i, first in enumerate(SYSTEMS) for second in SYSTEMS[i + 1 :]
    }
    assert max(scores.tukey.values()) < 0.05
    assert scores.alpha is not None and scores.alpha > 0.2
    assert all(scores.means[one].low < scores.means[one].mean < scores.means[one].high for one in SYSTEMS)


@pytest.mark.integration  # forty studies
def test_raters_at_random_find_nothing_beyond_the_level() -> None:
    """Of 40 studies with equal systems, at most as many find any pair significant as chance makes likely."""
    found, p_values = 0, []
    for seed in range(40):
        (scores,) = score_judgements(chosen(ALL_EQUAL, seed, raters=3), seed)
        found += any(scores.significant(pair) for pair in scores.comparisons)
        p_values += [pair.p_value for pair in scores.comparisons]
        assert scores.alpha is not None and abs(scores.alpha) < 0.2
    assert found <= binom.ppf(0.99, 40, 1 - SIGNIFICANCE.confidence)
    assert np.mean(np.array(p_values) <= 0.05) == pytest.approx(0.05, abs=0.03), "single p-values keep their level too"


def test_a_rating_is_the_share_as_best_minus_the_share_as_worst() -> None:
    """Liu & Lapata 2019, sec. 5: A best 2 of 3 times and worst once, B best once, C worst twice."""
    given = [("a", 1, -1, 0), ("b", 1, 0, -1), ("c", -1, 1, 0)]
    found = [
        Judgement(1, article, system, "overall", value)
        for article, *values in given
        for system, value in zip("ABC", values, strict=True)
    ]
    (scores,) = score_judgements(found, 1)
    assert {system: value.mean for system, value in scores.means.items()} == pytest.approx(
        {"A": 1 / 3, "B": 0, "C": -1 / 3}
    )
    assert scores.judged == {"A": 3, "B": 3, "C": 3}
    assert scores.preferred["A", "B"] == pytest.approx(2 / 3)
    assert scores.preferred["C", "A"] == pytest.approx(1 / 3)


def test_a_score_is_the_mean_of_all_questions_not_of_articles() -> None:
    """Liu & Lapata 2019, sec. 5: "the average of all question scores"."""
    marks = {"a": (1.0, 1.0, 1.0, 0.5), "b": (0.0, 0.0)}
    found = [
        Judgement(1, article, "ht", "questions", mark, str(number))
        for article, given in marks.items()
        for number, mark in enumerate(given)
    ] + [Judgement(2, article, "ft", "questions", 0.5, "0") for article in marks]
    (scores,) = score_judgements(found, 1)
    assert scores.means["ht"].mean == pytest.approx(3.5 / 6)
    assert scores.strengths is None, "no rater saw two systems"
    assert scores.preferred == {}


def test_ratings_are_scored_by_criterion_with_ties_as_half() -> None:
    of = study("ratings", articles=20, raters=2)
    rate = grader({"ht": 4, "t-dmca": 4, "ft": 2, "lead": 1}, 0, 1)
    scores = score_judgements(judgements(read_answers(of, [(str(n), filled(of, n, rate)) for n in of.forms])), 1)
    assert [one.measure for one in scores] == ["informativeness", "fluency", "conciseness", "consistency"]
    assert scores[0].means["ht"].mean == 4
    assert scores[0].preferred["ht", "t-dmca"] == 0.5
    assert scores[0].preferred["ht", "lead"] == 1
    assert scores[0].alpha == 1
    assert scores[0].tukey == {}, "without spread it is not defined"


def test_strengths_are_those_of_a_pair_in_closed_form() -> None:
    """Of two systems with 30 and 10 wins, and half a win each in advance, the odds are 30.5 to 10.5."""
    won = np.zeros((40, 2, 2))
    won[:30, 0, 1] = 1
    won[30:, 1, 0] = 1
    found = strengths(won, 1)
    assert found is not None
    assert found[0].mean - found[1].mean == pytest.approx(np.log(30.5 / 10.5), abs=1e-5)
    assert found[0].low < found[0].mean < found[0].high


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_strengths_recover_those_by_which_raters_chose(seed: int) -> None:
    """With two texts and logistic noise a choice follows the model exactly."""
    found = strengths(wins(chosen(PLANTED, seed, raters=20, texts=2), SYSTEMS), seed)
    assert found is not None
    middle = np.mean(list(PLANTED.values()))
    assert [one.mean for one in found] == pytest.approx([value - middle for value in PLANTED.values()], abs=0.25)
    inside = [one.low <= value - middle <= one.high for one, value in zip(found, PLANTED.values(), strict=True)]
    assert sum(inside) >= 3


def test_systems_that_never_met_have_no_strengths() -> None:
    def pair(article: str, first: str, second: str) -> Sequence[Judgement]:
        return [Judgement(1, article, first, "overall", 1), Judgement(1, article, second, "overall", -1)]

    assert strengths(wins([*pair("a", "A", "B"), *pair("b", "C", "D")], "ABCD"), 1) is None
    assert strengths(wins([*pair("a", "A", "B"), *pair("b", "B", "C")], "ABC"), 1) is not None


def test_nothing_to_score() -> None:
    with pytest.raises(ValueError, match=r"^expected at least 1 judgement"):
        score_judgements([], 1)
