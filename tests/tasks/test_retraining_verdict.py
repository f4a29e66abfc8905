"""Who is promoted, and the reason that is given."""

import pyarrow as pa
import pytest

from storage.schemas import ARTICLES, PREDICTIONS, SCORES
from tasks.reporting.challenge import Challenge, Contender, compare_contenders
from tasks.retraining.settings import RetrainingSettings
from tasks.retraining.verdict import decide, first_verdict, judging

IDS = [f"{number:016x}" for number in range(12)]
EASY = RetrainingSettings(metric="rouge2")


def contender(name: str, f1: list[float], metric: str = "rouge2") -> Contender:
    scores = [
        {"article_id": id_, "system": "ht-small", "metric": metric, "precision": value, "recall": value, "f1": value}
        for id_, value in zip(IDS, f1, strict=True)
    ]
    summaries = [
        {"article_id": id_, "system": "ht-small", "summary": name, "tokens": [], "attention": []} for id_ in IDS
    ]
    return Contender(
        name, pa.Table.from_pylist(scores, SCORES.schema), pa.Table.from_pylist(summaries, PREDICTIONS.schema)
    )


def challenge(champion: list[float], challenger: list[float], settings: RetrainingSettings = EASY) -> Challenge:
    articles = pa.Table.from_pylist([{"article_id": id_, "title": id_, "lead": "x"} for id_ in IDS], ARTICLES.schema)
    return compare_contenders(
        contender("version 1", champion), contender("version 2", challenger), articles, judging(settings), seed=1
    )


def test_the_first_version_is_promoted() -> None:
    verdict = first_verdict(0.25, 12, EASY)
    assert (verdict.promoted, verdict.reason, verdict.champion, verdict.challenger) == (
        True, "the first version", None, 0.25,
    )  # fmt: skip


def test_a_sure_gain_is_promoted() -> None:
    verdict = decide(challenge([0.2] * 12, [0.25, 0.26] * 6), EASY)
    assert verdict.promoted
    assert (verdict.articles, verdict.metric) == (12, "rouge2")
    assert (verdict.champion, verdict.challenger) == (pytest.approx(0.2), pytest.approx(0.255))
    assert verdict.p_value is not None
    assert verdict.p_value < 0.01
    assert verdict.reason == f"better than the champion: +5.50 points of ROUGE-2 (p = {verdict.p_value:.3f})"
    assert verdict.low is not None
    assert 0.05 < verdict.low < 0.055


def test_a_gain_below_the_margin_is_refused() -> None:
    settings = EASY.model_copy(update={"margin": 6.0})
    verdict = decide(challenge([0.2] * 12, [0.25, 0.26] * 6, settings), settings)
    assert not verdict.promoted
    assert "+5.50 points of ROUGE-2" in verdict.reason
    assert "below the margin of 6.00 points" in verdict.reason


def test_a_gain_that_may_be_chance_is_refused() -> None:
    verdict = decide(challenge([0.2] * 12, [0.1, 0.32] * 6), EASY)
    assert not verdict.promoted
    assert verdict.reason.endswith("not significant at 0.05")


@pytest.mark.parametrize(("f1", "gain"), [([0.2] * 12, "+0.00"), ([0.1] * 12, "-10.00")])
def test_what_is_not_better_is_refused(f1: list[float], gain: str) -> None:
    verdict = decide(challenge([0.2] * 12, f1), EASY)
    assert not verdict.promoted
    assert verdict.reason.startswith(f"not better than the champion: {gain} points of ROUGE-2 (p = ")
