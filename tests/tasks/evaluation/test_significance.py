"""Intervals and paired tests, against cases that can be worked out."""

from math import comb

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.schemas import SCORES
from tasks.evaluation.significance import (
    Comparison,
    Interval,
    Significance,
    bootstrap,
    compare_systems,
    holm,
    randomisation_test,
    signed_randomisation_test,
    summarise_scores,
    too_few_articles,
)

FEW = Significance(resamples=200)
VALUES = st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12)


def scores(**systems: dict[str, float]) -> pa.Table:
    rows = [
        {"article_id": a, "system": system, "metric": "rougeL", "precision": f1 / 2, "recall": f1 / 4, "value": f1}
        for system, articles in systems.items()
        for a, f1 in articles.items()
    ]
    return pa.Table.from_pylist(rows, SCORES.schema)


def test_summary_of_equal_scores_has_no_width() -> None:
    (summary,) = summarise_scores(scores(ht={"a": 0.5, "b": 0.5, "c": 0.5}), FEW, seed=1)
    assert (summary.system, summary.metric, summary.articles) == ("ht", "rougeL", 3)
    assert summary.value.mean == pytest.approx(0.5)
    assert (summary.value.low, summary.value.high) == (pytest.approx(0.5), pytest.approx(0.5))
    assert (summary.precision.mean, summary.recall.mean) == (pytest.approx(0.25), pytest.approx(0.125))


def test_interval_of_many_articles_is_that_of_the_normal_approximation() -> None:
    values = np.random.default_rng(0).uniform(size=(4000, 1))
    (interval,) = bootstrap(values, Significance(resamples=4000), seed=3)
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert interval.mean == pytest.approx(values.mean())
    assert interval.low == pytest.approx(values.mean() - half, abs=half / 10)
    assert interval.high == pytest.approx(values.mean() + half, abs=half / 10)


def test_higher_confidence_is_wider() -> None:
    values = np.arange(20.0)[:, None]
    (narrow,) = bootstrap(values, Significance(confidence=0.5), seed=0)
    (wide,) = bootstrap(values, Significance(confidence=0.99), seed=0)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high


@settings(max_examples=50)
@given(VALUES, st.integers(0, 99))
def test_an_interval_lies_within_the_values_and_hangs_on_the_seed_alone(values: list[float], seed: int) -> None:
    column = np.array(values)[:, None]
    (interval,) = bootstrap(column, FEW, seed)
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9
    assert bootstrap(column, FEW, seed) == [interval]


def test_chunks_do_not_change_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(10.0)[:, None]
    whole = bootstrap(values, FEW, 5), randomisation_test(values - 4, 200, 5)
    monkeypatch.setattr("tasks.evaluation.significance.CELLS", 30)
    assert (bootstrap(values, FEW, 5), randomisation_test(values - 4, 200, 5)) == whole


@settings(max_examples=50)
@given(VALUES)
def test_identical_systems_have_p_of_one(values: list[float]) -> None:
    articles = {f"a{i}": value for i, value in enumerate(values)}
    (comparison,) = compare_systems(scores(one=articles, two=articles), FEW, seed=0)
    assert (comparison.p_value, comparison.p_adjusted) == (1.0, 1.0)
    assert comparison.difference == Interval(0.0, 0.0, 0.0)


def test_p_is_the_share_of_sign_flips_as_extreme() -> None:
    # Ten differences of 1: |sum| = 10 for 2 of 2^10 flips, >= 8 for 2 * (1 + 10). Of few articles all are tried.
    assert randomisation_test(np.ones((10, 1)), 1, seed=0) == [2 / 2**10]
    nine = np.array([1.0] * 9 + [-1.0])
    assert randomisation_test(nine[:, None], 1, seed=0) == [2 * (1 + comb(10, 1)) / 2**10]
    assert signed_randomisation_test(nine[:, None], 1, seed=0) == [((1 + 10) / 2**10, (2**10 - 1) / 2**10)]
    # Of twenty, 40,000 are drawn: 2 * (1 + 20 + 190 + 1140) of 2^20 have |sum| >= 14.
    many = np.array([1.0] * 17 + [-1.0] * 3)
    exact = 2 * (1 + 20 + 190 + 1140) / 2**20
    assert randomisation_test(many[:, None], 40_000, seed=0) == pytest.approx([exact], abs=5e-4)


@pytest.mark.parametrize(("articles", "p"), [(1, 1.0), (2, 0.5), (5, 1 / 16), (6, 1 / 32), (16, 2**-15)])
def test_few_articles_have_a_smallest_p(articles: int, p: float) -> None:
    better = {f"a{n}": 0.5 + n / 100 for n in range(articles)}
    (pair,) = compare_systems(scores(one=better, two=dict.fromkeys(better, 0.1)), Significance(), seed=0)
    assert (pair.p_value, pair.p_least, pair.differing) == (p, p, articles)
    assert (too_few_articles([pair], 0.05) == "") is (p <= 0.05)


def test_what_can_never_be_significant_is_said() -> None:
    five = {f"a{n}": 0.5 + n / 100 for n in range(5)}
    three = scores(a=five, b=dict.fromkeys(five, 0.1), c={**five, "a0": 0.9})
    pairs = compare_systems(three, Significance(), seed=0)
    assert [(pair.better, pair.worse, pair.differing, pair.p_least) for pair in pairs] == [
        ("a", "b", 5, 3 / 16),
        ("c", "a", 1, 1.0),
        ("c", "b", 5, 3 / 16),
    ]
    assert too_few_articles(pairs, 0.05) == (
        "scores that differ on at most 5 articles give no p below 0.188 among 3 pairs"
    )
    assert too_few_articles([pairs[1]], 0.05) == "scores that differ on 1 article give no p below 1.000"
    assert too_few_articles([], 0.05) == ""


@pytest.mark.parametrize("systems", [2, 11, 30])
def test_of_many_systems_all_can_differ_significantly(systems: int) -> None:
    # Forty articles on which each system is always better than the one before.
    table = scores(**{f"s{n:02}": {f"a{m:02}": n + m / 100 for m in range(40)} for n in range(systems)})
    pairs = compare_systems(table, Significance(), seed=0)
    count = systems * (systems - 1) // 2
    assert len(pairs) == count
    flips = Significance().flips(count)
    assert flips == {2: 1000, 11: 11_000, 30: 87_000}[systems]
    assert {pair.p_value for pair in pairs} == {1 / (flips + 1)}
    assert max(pair.p_adjusted for pair in pairs) == pytest.approx(count / (flips + 1))
    assert count / (flips + 1) < 0.05 / 9


def test_p_is_never_zero() -> None:
    assert randomisation_test(np.ones((1000, 1)), 200, seed=0) == [1 / 201]


def test_p_does_not_hang_on_the_order_of_the_systems() -> None:
    differences = np.random.default_rng(0).normal(0.1, 1, (50, 1))
    assert randomisation_test(differences, 200, 3) == randomisation_test(-differences, 200, 3)


def test_a_pair_is_judged_alike_alone_and_among_others() -> None:
    differences = np.random.default_rng(0).normal(0.1, 1, (50, 3))
    together = randomisation_test(differences, 200, 3)
    assert together == [randomisation_test(differences[:, [k]], 200, 3)[0] for k in range(3)]
    alone = [bootstrap(differences[:, [k]], FEW, 3)[0] for k in range(3)]
    for one, other in zip(bootstrap(differences, FEW, 3), alone, strict=True):
        assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high))


def test_systems_on_different_articles_and_several_metrics_keep_their_places() -> None:
    table = scores(ht={"a": 0.2, "b": 0.4}, ft={"c": 0.8}, pht={"a": 0.4, "b": 0.6})
    other = table.set_column(2, SCORES.schema.field("metric"), pa.array(["rouge1"] * table.num_rows))
    both = pa.concat_tables([table, other])
    found = [(s.metric, s.system, s.articles, s.value.mean) for s in summarise_scores(both, FEW, 0)]
    assert found == [
        (metric, system, articles, pytest.approx(mean))
        for metric in ("rougeL", "rouge1")
        for system, articles, mean in (("ht", 2, 0.3), ("ft", 1, 0.8), ("pht", 2, 0.5))
    ]
    assert [(c.metric, c.better, c.worse) for c in compare_systems(both, FEW, 0)] == [
        ("rougeL", "pht", "ht"),
        ("rouge1", "pht", "ht"),
    ]


def test_holm_by_hand() -> None:
    # Sorted .01 .03 .04: times 3, 2, 1 gives .03 .06 .04, and never less than the one before.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_p_values_are_corrected_for_the_pairs_of_their_own_metric() -> None:
    table = scores(**{system: dict.fromkeys("abcdef", 0.1 * n) for n, system in enumerate(("ht", "ft", "pht"))})
    other = table.filter(pc.not_equal(table["system"], "pht"))
    other = other.set_column(2, SCORES.schema.field("metric"), pa.array(["rouge1"] * other.num_rows))
    found = compare_systems(pa.concat_tables([table, other]), FEW, seed=0)
    assert [(c.metric, c.p_value, c.p_adjusted) for c in found] == [
        *[("rougeL", 2 / 2**6, 3 * 2 / 2**6)] * 3,
        ("rouge1", 2 / 2**6, 2 / 2**6),
    ]


def test_systems_are_compared_on_the_articles_both_have() -> None:
    table = scores(lead={"a": 0.2, "b": 0.4, "c": 0.9}, ht={"b": 0.5, "a": 0.4, "d": 0.0}, other={"x": 1.0})
    (comparison,) = compare_systems(table, FEW, seed=0)
    assert isinstance(comparison, Comparison)
    assert (comparison.better, comparison.worse, comparison.articles) == ("ht", "lead", 2)
    assert comparison.difference.mean == pytest.approx(0.15)
    assert 0.1 - 1e-6 <= comparison.difference.low <= comparison.difference.high <= 0.2 + 1e-6


def test_order_of_rows_does_not_matter() -> None:
    table = scores(ht={"a": 0.2, "b": 0.4, "c": 0.9}, lead={"a": 0.1, "b": 0.5, "c": 0.7})
    turned = table.take(list(range(table.num_rows))[::-1])
    by_name = {(s.system): s for s in summarise_scores(turned, FEW, seed=2)}
    assert by_name == {s.system: s for s in summarise_scores(table, FEW, seed=2)}
    assert compare_systems(turned, FEW, seed=2) == compare_systems(table, FEW, seed=2)


def test_a_clear_winner_is_significant() -> None:
    articles = [f"a{i:02}" for i in range(40)]
    table = scores(
        ht={a: 0.5 + i / 100 for i, a in enumerate(articles)}, ft={a: 0.4 + i / 100 for i, a in enumerate(articles)}
    )
    (comparison,) = compare_systems(table, Significance(), seed=0)
    assert comparison.better == "ht"
    assert comparison.p_value == 1 / 1001
    assert comparison.difference.low == pytest.approx(0.1)


def test_nothing_to_compare() -> None:
    empty = SCORES.schema.empty_table()
    assert summarise_scores(empty, FEW, 0) == []
    assert compare_systems(empty, FEW, 0) == []


def test_errors() -> None:
    table = scores(ht={"a": 0.5})
    with pytest.raises(ValueError, match="article a has two scores of ht under rougeL"):
        summarise_scores(pa.concat_tables([table, table]), FEW, 0)
    with pytest.raises(ValueError, match="at least 1 article for an interval, got 0"):
        bootstrap(np.zeros((0, 1)), FEW, 0)
    with pytest.raises(ValueError, match="at least 1 article for a test, got 0"):
        randomisation_test(np.zeros((0, 1)), 200, 0)
