"""Scores of predictions as a table."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow.fs import LocalFileSystem
from pydantic import ValidationError

from storage.schemas import ARTICLES, PARAGRAPHS, PREDICTIONS, RANKED, SCORES
from tasks.engine.job import Scratch
from tasks.engine.progress import Progress
from tasks.evaluation.metrics import METRICS
from tasks.evaluation.scoring import score_predictions
from tasks.evaluation.settings import ScoringSettings
from tasks.reporting.settings import ReportSettings
from tasks.retraining.settings import RetrainingSettings
from tasks.sources.miniweb.site import Miniweb
from tasks.sources.settings import MiniwebSettings
from tests.tasks.chat.chat_server import chat_server, marks


def articles(*rows: tuple[str, str, str | None]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"article_id": id_, "title": "T", "lead": lead, "split": "test", "drop_reason": reason}
            for id_, lead, reason in rows
        ],
        ARTICLES.schema,
    )


def predictions(*rows: tuple[str, str, str]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"article_id": id_, "system": system, "summary": summary} for id_, system, summary in rows], PREDICTIONS.schema
    )


NO_TEXTS = (RANKED.schema.empty_table(), PARAGRAPHS.schema.empty_table())


def scores(
    known: pa.Table, written: pa.Table, settings: ScoringSettings, texts: Any = NO_TEXTS
) -> list[tuple[Any, ...]]:
    table = score_predictions(known, written, *texts, settings)
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
        ("a", "lead", "rouge1", pytest.approx(1 / 3), 0.25, 0.5),
        ("a", "lead", "rouge2-stem", 0.5, pytest.approx(1 / 3), 1.0),
        ("c", "ht", "rouge1", 0.0, 0.0, 0.0),
        ("c", "ht", "rouge2-stem", 0.0, 0.0, 0.0),
    ]


def test_all_metrics_by_default_truth_first() -> None:
    """Input: what the system has attention to; sources: every kept paragraph of the article."""
    written = predictions(("a", "ht", "The River Tavil is 395 miles long."), ("a", "lead", "It is 12 miles long."))
    written = written.set_column(
        4, "attention", pa.array([[[1.0]] * 3, []], PREDICTIONS.schema.field("attention").type)
    )
    best = [
        {"article_id": "a", "rank": 1, "text": "It is 12 miles."},
        {"article_id": "a", "rank": 0, "text": "It is 395."},
    ]
    kept = [
        {"article_id": "a", "text": "the Tavil, a river"},
        {"article_id": "a", "text": "12", "drop_reason": "too_short"},
    ]
    texts = (pa.Table.from_pylist(best, RANKED.schema), pa.Table.from_pylist(kept, PARAGRAPHS.schema))
    rows = scores(articles(("a", "The River Tavil is 12 miles long.", None)), written, ScoringSettings(), texts)
    assert [row[2] for row in rows if row[1] == "ht"] == [
        name
        for name, metric in METRICS.items()
        if not name.startswith("facts")
        and metric.judge is None
        and name not in ("cds", "own-document")  # which need two documents
    ]
    found = {row[1:3]: row[3:] for row in rows}
    assert found["ht", "values-input"] == (0.5, None, None)  # 395 of 395 and River Tavil
    assert found["ht", "values-sources"] == (1.0, None, None)
    assert found["ht", "values-right"] == (0.5, None, None)
    assert found["ht", "values"] == (0.5, 0.5, 0.5)
    assert found["lead", "values-input"] == (1.0, None, None)  # a system without attention reads all that is ranked


@pytest.mark.parametrize("rows", [[], [("a", "x", None)]])
def test_no_predictions_no_scores(rows: list[tuple[str, str, str | None]]) -> None:
    assert scores(articles(*rows), predictions(), ScoringSettings()) == []


@pytest.mark.parametrize("known", [("a", "x", "empty lead"), ("aa", "x", None)])
def test_a_prediction_for_no_article_is_an_error(known: tuple[str, str, str | None]) -> None:
    with pytest.raises(ValueError, match="'a'"):
        score_predictions(articles(known), predictions(("a", "ht", "x")), *NO_TEXTS, ScoringSettings())


def test_two_summaries_of_one_system_are_an_error() -> None:
    with pytest.raises(ValueError, match="article a has two"):
        score_predictions(
            articles(("a", "x", None)), predictions(("a", "ht", "x"), ("a", "ht", "y")), *NO_TEXTS, ScoringSettings()
        )


@pytest.mark.parametrize("name", ["facts-wrong", "density", "values-inputs"])
def test_what_cannot_rank_systems_is_refused_as_a_headline_and_by_retraining(name: str) -> None:
    for settings, given in (ReportSettings, {"headline": name}), (RetrainingSettings, {"guards": ["rougeL", name]}):
        with pytest.raises(ValidationError, match=f"'{name}'.* expected one of: .*values-input, .*rouge1"):
            settings.model_validate(given)


def test_an_unknown_metric_is_refused() -> None:
    with pytest.raises(ValidationError):
        ScoringSettings(metrics=("rouge3",))  # type: ignore[arg-type]


def test_articles_of_the_mini_web_are_scored_by_its_facts() -> None:
    world = MiniwebSettings(topics=60)
    web, topic = Miniweb(world), 0
    known = articles(("a", web.pages.lead(topic), None))
    known = known.set_column(known.schema.get_field_index("title"), "title", pa.array([web.world.title(topic)]))
    wanted = ScoringSettings(metrics=("facts-recalled", "facts-unread"))
    table = score_predictions(known, predictions(("a", "ht", web.pages.lead(topic))), *NO_TEXTS, wanted, world)
    assert [(row["metric"], row["value"]) for row in table.to_pylist()] == [
        ("facts-recalled", 1.0),
        ("facts-unread", 0.0),
    ]


def test_a_language_model_judges_what_the_settings_ask_it_to(tmp_path: Path) -> None:
    """Its marks stand among the metrics, truth before ROUGE before style; progress counts summaries."""
    told: list[Progress] = []
    with chat_server(lambda number, body: (200, marks(5, 3, 1))) as chat:
        wanted = ScoringSettings(
            metrics=("rouge1", "judge-fluency", "judge-faithfulness"), judge={"url": chat.url, "model": "m"}
        )
        table = score_predictions(
            articles(("a", "river", None)),
            predictions(("a", "ht", "river"), ("a", "lead", "a river")),
            *NO_TEXTS,
            wanted,
            scratch=Scratch(LocalFileSystem(), str(tmp_path / "scratch")),
            progress=told.append,
        )
    assert [(row["system"], row["metric"], row["value"]) for row in table.to_pylist() if row["system"] == "ht"] == [
        ("ht", "judge-faithfulness", 1.0),
        ("ht", "rouge1", 1.0),
        ("ht", "judge-fluency", 0.0),
    ]
    assert len(chat.asked) == 2
    assert [(str(progress).rpartition(", ")[0], progress.share) for progress in told] == [("2 of 2 summaries", 1.0)]
    assert str(told[0]).startswith("2 of 2 summaries, ")
