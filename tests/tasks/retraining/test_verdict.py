"""Who is promoted, and the reason that is given."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from storage.recipes import ShardRecord
from storage.schemas import SCORES
from storage.store import WrittenTable
from tasks.engine.recipe import StageResult
from tasks.evaluation.significance import randomisation_test, signed_randomisation_test
from tasks.retraining.settings import FLIPS, RetrainingSettings
from tasks.retraining.verdict import (
    Criterion,
    MetricComparison,
    Verdict,
    criteria_of,
    decide,
    find_all_evidence,
    find_evidence,
    scored_otherwise,
)

EASY = RetrainingSettings(guards=(), metric="rouge2", margin=0.2)
LEVEL = 0.05 / 53  # one test split; two share it
BETTER = MetricComparison("frozen", "rouge2", 400, 0.2, 0.255, 0.05, 0.06, 0.0001, 0.9999)
WORSE = MetricComparison("frozen", "rouge2", 400, 0.2, 0.19, -0.02, -0.001, 0.99, 0.01)
SAME = MetricComparison("frozen", "rouge2", 400, 0.2, 0.2, -0.01, 0.01, 0.5, 0.5)


def judged(*findings: MetricComparison, settings: RetrainingSettings = EASY) -> Verdict:
    return decide(findings, [], settings)


def on(split: str, finding: MetricComparison, **changes: object) -> MetricComparison:
    return replace(finding, split=split, **changes)  # type: ignore[arg-type]


def test_a_sure_gain_is_promoted() -> None:
    verdict = judged(BETTER)
    assert verdict.promoted
    assert verdict.reason == "better than the champion: +5.50 points of ROUGE-2 on the frozen test split (p = 0.0001)"
    assert (verdict.level, verdict.findings) == (LEVEL, (BETTER,))
    assert verdict.criteria == (Criterion("rouge2", "improve"),)


@pytest.mark.parametrize(("p", "promoted"), [(LEVEL, True), (1.01 * LEVEL, False), (0.025, False)])
def test_a_week_spends_its_share_of_the_false_promotions_of_a_year(p: float, promoted: bool) -> None:
    assert judged(replace(BETTER, p_better=p)).promoted is promoted
    # With a second split each has half of it.
    assert judged(replace(BETTER, p_better=p / 2), on("recent", SAME)).promoted is promoted
    assert judged(SAME, on("recent", BETTER, p_better=p / 2)).promoted is promoted
    twice = EASY.model_copy(update={"false_promotions": 0.1})
    assert judged(replace(BETTER, p_better=2 * p), settings=twice).promoted is promoted


def test_a_gain_below_the_margin_is_refused() -> None:
    verdict = judged(BETTER, settings=EASY.model_copy(update={"margin": 6.0}))
    assert not verdict.promoted
    assert "+5.50 points of ROUGE-2" in verdict.reason
    assert "below the margin of 6.00 points" in verdict.reason


def test_a_gain_that_may_be_chance_is_refused() -> None:
    verdict = judged(replace(BETTER, p_better=0.01))
    assert verdict.reason.endswith("(p = 0.01), not significant at 0.00094")


@pytest.mark.parametrize(("finding", "gain"), [(SAME, "+0.00"), (WORSE, "-1.00")])
def test_what_is_not_better_is_refused(finding: MetricComparison, gain: str) -> None:
    verdict = judged(finding)
    assert (verdict.promoted, verdict.guarded) == (False, False)
    assert verdict.reason.startswith(f"not better than the champion: {gain} points of ROUGE-2 on the frozen")


def test_better_handling_of_new_topics_is_rewarded() -> None:
    verdict = judged(SAME, on("recent", BETTER))
    assert verdict.promoted
    assert "on the recent test split" in verdict.reason


def test_a_gain_on_one_split_does_not_make_up_for_a_loss_on_the_other() -> None:
    verdict = judged(BETTER, on("recent", WORSE))
    assert (verdict.promoted, verdict.guarded) == (False, True)
    assert verdict.reason == (
        "+5.50 points of ROUGE-2 on the frozen test split (p = 0.0001), but worse than the champion: "
        "-1.00 points of ROUGE-2 on the recent test split (p = 0.01)"
    )
    assert judged(BETTER, on("recent", WORSE, p_worse=0.06)).promoted  # may be chance
    assert judged(BETTER, on("recent", WORSE, challenger=0.199)).promoted  # no more than the tolerance


def test_every_metric_has_its_role() -> None:
    settings = EASY.model_copy(update={"guards": ("rouge1", "rouge2")})
    assert criteria_of(settings) == [Criterion("rouge2", "improve"), Criterion("rouge1", "hold")]
    assert judged(BETTER, replace(SAME, metric="rouge1"), settings=settings).promoted
    verdict = judged(BETTER, replace(WORSE, metric="rouge1"), settings=settings)
    assert verdict.reason.endswith(
        "worse than the champion: -1.00 points of ROUGE-1 on the frozen test split (p = 0.01)"
    )
    assert not judged(SAME, replace(BETTER, metric="rouge1"), settings=settings).promoted


@pytest.mark.parametrize("figure", ["champion", "challenger", "low", "high", "p_better", "p_worse"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_finding_that_is_not_finite_is_refused_by_name(figure: str, value: float) -> None:
    verdict = judged(BETTER, on("recent", BETTER, **{figure: value}))
    assert (verdict.promoted, verdict.reason, verdict.findings) == (
        False,
        "not comparable with the champion: ROUGE-2 on the recent test split is not finite",
        (),
    )


def test_a_metric_that_was_not_scored_is_refused_by_name() -> None:
    guarded = EASY.model_copy(update={"guards": ("rouge1", "values")})
    verdict = judged(BETTER, replace(SAME, metric="rouge1"), settings=guarded)
    assert (verdict.promoted, verdict.reason) == (
        False,
        "not comparable with the champion: values F1 was scored on no test split",
    )
    assert not judged(replace(SAME, metric="rouge1")).promoted
    assert judged().reason == "not comparable with the champion: ROUGE-2 was scored on no test split"


def test_flaws_of_the_evidence_refuse_by_name() -> None:
    verdict = decide([BETTER], ["the challenger lacks ROUGE-1", "the metrics are of another version"], EASY)
    assert verdict.guarded
    assert (verdict.promoted, verdict.reason) == (
        False,
        "not comparable with the champion: the challenger lacks ROUGE-1; the metrics are of another version",
    )


def test_a_split_of_few_articles_decides_nothing_and_takes_nothing() -> None:
    few = on("recent", BETTER, articles=11)  # 2 ** -11 > 0.05 / 53 / 2
    assert judged(SAME, few).reason.endswith("but 11 articles are too few for significance at p = 0.00094")
    assert judged(few).promoted  # 2 ** -11 < 0.05 / 53: by itself it has both shares
    assert judged(replace(BETTER, p_better=LEVEL), few).promoted
    assert judged(SAME, replace(few, articles=12)).promoted


def test_fewer_false_promotions_than_the_flips_can_tell_are_refused() -> None:
    with pytest.raises(ValueError, match=r"false_promotions\n  Input should be greater than or equal to 0\.0031"):
        RetrainingSettings(false_promotions=0.0031)
    assert RetrainingSettings(false_promotions=0.00318).false_promotions / 53 / 3 >= 1 / (FLIPS + 1)


def scores(**f1: float) -> pa.Table:
    rows = [
        {"article_id": id_, "system": "s", "metric": metric, "precision": 0.0, "recall": 0.0, "value": value}
        for id_, value in f1.items()
        for metric in ("rouge1", "rouge2")
    ]
    return pa.Table.from_pylist(rows, SCORES.schema)


def test_evidence_is_of_the_articles_both_were_scored_on() -> None:
    champion, challenger = scores(a=0.1, b=0.2, c=0.9), scores(b=0.3, a=0.3, d=0.0)
    (found,), flaws = find_evidence("recent", champion, challenger, ["rouge2", "rougeL"], flips=9, seed=1)
    assert flaws == []
    assert (found.split, found.metric, found.articles) == ("recent", "rouge2", 2)
    assert (found.champion, found.challenger) == (pytest.approx(0.15), pytest.approx(0.3))
    assert found.points == pytest.approx(15)
    assert (found.low, found.high) == (pytest.approx(0.1), pytest.approx(0.2))
    assert found.p_better == 0.25  # of four flips only that of the data is as good
    assert found.p_worse == 1.0


def test_the_articles_of_both_splits_are_also_judged_together() -> None:
    champion = {"frozen": scores(a=0.1, b=0.2), "recent": scores(c=0.3)}
    challenger = {"frozen": scores(a=0.3, b=0.3), "recent": scores(c=0.6)}
    found, _ = find_all_evidence(champion, challenger, ["rouge2"], flips=9, seed=1)
    assert [(one.split, one.articles, round(one.points)) for one in found] == [
        ("frozen", 2, 15),
        ("recent", 1, 30),
        ("pooled", 3, 20),
    ]
    assert found[2].p_better == 0.125  # of eight flips only that of the data is as good
    alone = {"frozen": scores(a=0.3), "recent": scores()}
    nothing = {**champion, "recent": scores()}
    findings, flaws = find_all_evidence(nothing, alone, ["rouge2"], flips=99, seed=1)
    assert ([one.split for one in findings], flaws) == (["frozen"], [])


def test_one_nan_among_fifty_scores_is_a_flaw_and_so_is_what_one_side_lacks() -> None:
    fifty = {f"a{n:02}": 0.2 for n in range(50)}
    before = scores(**fifty)

    def flaws(after: pa.Table, *metrics: str) -> list[str]:
        findings, wrong = find_evidence("frozen", before, after, metrics, flips=9, seed=1)
        assert len(findings) + len(wrong) == len(metrics)
        return wrong

    better = dict.fromkeys(fifty, 0.3)
    assert flaws(scores(**better), "rouge1", "rouge2") == []
    wrong = "1 of 50 scores of the challenger in ROUGE-2 on the frozen test split are not finite"
    assert flaws(scores(**{**better, "a07": math.nan}), "rouge2") == [wrong]
    assert flaws(scores(**{**better, "a07": -math.inf}), "rouge2") == [wrong]
    null = pa.Table.from_pylist(
        [{**row, "value": None} if row["article_id"] == "a07" else row for row in scores(**better).to_pylist()],
        SCORES.schema,
    )
    assert flaws(null, "rouge2") == [wrong]
    one = scores(**better).filter(pc.equal(scores(**better)["metric"], "rouge1"))
    assert flaws(one, "rouge1", "rouge2") == ["the challenger lacks ROUGE-2 on the frozen test split"]
    half = dict(list(better.items())[:25])
    assert flaws(scores(**half), "rouge2") == []
    del half["a00"]
    assert flaws(scores(**half), "rouge2") == [
        "of 50 and 24 scores in ROUGE-2 on the frozen test split, 24 are of common articles"
    ]


def test_a_nan_is_never_significant() -> None:
    differences = np.array([[math.nan], *[[1.0]] * 49])
    assert randomisation_test(differences, 999, seed=1) == [1.0]
    assert signed_randomisation_test(differences, 999, seed=1) == [(1.0, 1.0)]


def test_versions_scored_by_other_metrics_are_not_compared() -> None:
    def scored(version: int, **notes: str) -> StageResult:
        record = ShardRecord("scores", 0, "k", WrittenTable(1, 1, "", ""), {}, {}, {}, version, 0.0, 0, notes)
        return StageResult("scores", range(2), {0: record, 1: record})

    assert scored_otherwise(scored(4), scored(4)) == []
    assert scored_otherwise(scored(3), scored(4)) == [
        "the metrics are of version 3 for the champion, of version 4 for the challenger"
    ]
    assert scored_otherwise(scored(4, judge="a"), scored(4, judge="b")) == [
        "the metrics are of version 4 {'judge': 'a'} for the champion, of version 4 {'judge': 'b'} for the challenger"
    ]
