"""Score summaries against leads: predictions + articles -> scores (000 sec. 5, automatic evaluation)."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from storage.schemas import SCORES
from tasks.grouping import join_by_article
from tasks.rouge import METRICS, Metric, Reference
from tasks.settings import Settings


class ScoringSettings(Settings):
    """What is measured of each summary."""

    metrics: tuple[Metric, ...] = Field(
        METRICS,
        min_length=1,
        description="ROUGE metrics (0-1): rouge1, rouge2, rougeL (the summary as one line, as the released HT scorer "
        "takes it), rougeLsum (sentence by sentence, as ROUGE-1.5.5 prints it); -stem after Porter's stemmer",
    )


def score_predictions(articles: pa.Table, predictions: pa.Table, settings: ScoringSettings) -> pa.Table:
    """Score every prediction against its article's lead.

    Args:
        articles: table of the `articles` dataset, sorted by article.
        predictions: table of the `predictions` dataset of any systems, sorted by article.
        settings: which metrics.

    Returns:
        Table of the `scores` dataset, in order of the predictions and of `settings.metrics`.

    Raises:
        ValueError: a prediction's article is not in `articles` or not used, or a system has two predictions for one.
    """
    used = articles.filter(pc.is_null(articles["drop_reason"]))
    columns: dict[str, list[Any]] = {name: [] for name in SCORES.schema.names}
    seen = 0
    for article_id, rows, summaries in join_by_article(used, predictions):
        if summaries.num_rows == 0:
            continue
        seen += summaries.num_rows
        systems = summaries["system"].to_pylist()
        if len(set(systems)) < len(systems):
            raise ValueError(f"article {article_id} has two summaries of one system: {sorted(systems)}")
        reference = Reference(rows["lead"][0].as_py(), settings.metrics)
        for system, summary in zip(systems, summaries["summary"].to_pylist(), strict=True):
            _append(columns, article_id, system, reference, summary)
    if seen < predictions.num_rows:
        known = set(used["article_id"].to_pylist())
        strangers = (i for i in predictions["article_id"].to_pylist() if i not in known)
        raise ValueError(f"predictions for articles that are not there or not used: {list(islice(strangers, 3))}")
    return pa.table(columns, schema=SCORES.schema)


def _append(columns: dict[str, list[Any]], article_id: str, system: str, reference: Reference, summary: str) -> None:
    for metric, score in reference.score(summary).items():
        values: Sequence[Any] = (article_id, system, metric, score.precision, score.recall, score.f1)
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
