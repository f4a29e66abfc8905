"""Scores of predictions as a table."""

from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from storage.schemas import ARTICLES, PREDICTIONS, SCORES
from tasks.scoring import ScoringSettings, score_predictions


def articles(*rows: tuple[str, str, str | None]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"article_id": id_, "lead": lead, "split": "test", "drop_reason": reason} for id_, lead, reason in rows],
        ARTICLES.schema,
    )


def predictions(*rows: tuple[str, str, str]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"article_id": id_, "system": system, "summary": summary} for id_, system, summary in rows], PREDICTIONS.schema
    )


def scores(*arguments: Any) -> list[tuple[Any, ...]]:
    table = score_predictions(*arguments)
    assert table.schema.equals(SCORES.schema)
    return [tuple(row.values()) for row in table.to_pylist()]


def test_scores_by_hand() -> None:
    wanted = ScoringSettings(metrics=("rouge1", "rouge2-stem"))
    rows = scores(
        articles(("a", "One river.", None), ("b", "no one wrote of this", None), ("c", "x y z", None)),
        predictions(("a", "ht", "one river"), ("a", "lead", "one rivers two four"), ("c", "ht", "")),
        wanted,
    )
    assert rows == [
        ("a", "ht", "rouge1", 1.0, 1.0, 1.0),
        ("a", "ht", "rouge2-stem", 1.0, 1.0, 1.0),
        ("a", "lead", "rouge1", 0.25, 0.5, pytest.approx(1 / 3)),
        ("a", "lead", "rouge2-stem", pytest.approx(1 / 3), 1.0, 0.5),
        ("c", "ht", "rouge1", 0.0, 0.0, 0.0),
        ("c", "ht", "rouge2-stem", 0.0, 0.0, 0.0),
    ]


def test_all_metrics_by_default() -> None:
    rows = scores(articles(("a", "x", None)), predictions(("a", "ht", "x")), ScoringSettings())
    assert [row[2] for row in rows] == [
        f"rouge{kind}{stem}" for stem in ("", "-stem") for kind in ("1", "2", "L", "Lsum")
    ]


@pytest.mark.parametrize("rows", [[], [("a", "x", None)]])
def test_no_predictions_no_scores(rows: list[tuple[str, str, str | None]]) -> None:
    assert scores(articles(*rows), predictions(), ScoringSettings()) == []


@pytest.mark.parametrize("known", [("a", "x", "empty lead"), ("aa", "x", None)])
def test_a_prediction_for_no_article_is_an_error(known: tuple[str, str, str | None]) -> None:
    with pytest.raises(ValueError, match="'a'"):
        score_predictions(articles(known), predictions(("a", "ht", "x")), ScoringSettings())


def test_two_summaries_of_one_system_are_an_error() -> None:
    with pytest.raises(ValueError, match="article a has two"):
        score_predictions(
            articles(("a", "x", None)), predictions(("a", "ht", "x"), ("a", "ht", "y")), ScoringSettings()
        )


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValidationError):
        ScoringSettings(metrics=("rouge3",))  # type: ignore[arg-type]
