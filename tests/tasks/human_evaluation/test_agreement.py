"""Agreement against published figures, and raters who are stricter or answer by chance."""

import numpy as np
import pytest

from tasks.human_evaluation.answers import Judgement, judgements, read_answers
from tasks.human_evaluation.scoring import krippendorff_alpha, rater_findings
from tests.tasks.human_evaluation.studies import chooser, filled, grader, study

# Krippendorff 2011, example of four observers and twelve units, whose ordinal alpha he gives as .815; 0 = missing.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]


def test_alpha_is_that_of_the_literature() -> None:
    units = [[value for value in column if value] for column in zip(*OBSERVERS, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.815, abs=0.0005)


def test_alpha_of_full_agreement_chance_and_nothing() -> None:
    random = np.random.default_rng(1)
    assert krippendorff_alpha([[1, 1], [2, 2, 2], [5, 5]]) == 1
    assert krippendorff_alpha([list(random.integers(1, 6, 4)) for _ in range(3000)]) == pytest.approx(0, abs=0.03)
    assert krippendorff_alpha([[1], [2]]) is None
    assert krippendorff_alpha([[3, 3], [3, 3]]) is None


def test_a_strict_rater_and_one_by_chance_are_found() -> None:
    of = study("ratings", articles=50, raters=4, texts=3)
    quality = {"ht": 4.5, "t-dmca": 3.5, "ft": 2.5, "lead": 2}
    raters = [grader(quality, 0.5, 1), grader(quality, 0.5, 2), grader(quality, 0.5, 3, severity=1.0)]
    raters.append(grader(dict.fromkeys(quality, 3.1), 1.5, 4))
    answered = read_answers(of, [(f"{n}", filled(of, n, rater)) for n, rater in enumerate(raters, start=1)])
    found = {
        one.rater: one for one in rater_findings([one for one in judgements(answered) if one.measure == "fluency"])
    }
    severity = [found[rater].severity or 0 for rater in (1, 2, 3, 4)]
    assert sum(severity) == pytest.approx(0)
    assert severity[2] - severity[0] == pytest.approx(0.85, abs=0.15), "1 less what the end of the scale cuts off"
    assert min(found[rater].agreement or 0 for rater in (1, 2, 3)) > 0.5
    assert abs(found[4].agreement or 0) < 0.2


def test_choices_have_no_severity() -> None:
    of = study(articles=10, raters=2)
    rate = chooser({"ht": 3, "t-dmca": 2, "ft": 1, "lead": 0}, 0.5, 1)
    found = rater_findings(judgements(read_answers(of, [("a", filled(of, 1, rate)), ("b", filled(of, 2, rate))])))
    assert [one.severity for one in found] == [None, None]


def test_a_rater_whom_nobody_can_be_compared_with() -> None:
    alone = [Judgement(1, "a", "ht", "fluency", 3), Judgement(1, "b", "ht", "fluency", 4)]
    (one,) = rater_findings(alone)
    assert (one.judgements, one.severity, one.agreement) == (2, None, None)
