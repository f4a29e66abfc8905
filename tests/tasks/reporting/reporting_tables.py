"""Small tables of a made build, and rows as short as a test can say them."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from storage.schemas import ARTICLES, FEATURES, GRAPHS, PARAGRAPHS, PREDICTIONS, RANKED, RANKING_SCORES, SCORES

METRICS = (
    "values",
    "rouge1",
    "rouge2",
    "rougeL",
    "rougeLsum",
    "rouge1-stem",
    "rouge2-stem",
    "rougeL-stem",
    "rougeLsum-stem",
)


def articles(**leads: str) -> pa.Table:
    """Articles of the test split: id -> lead; the title is the id in capitals."""
    rows = [
        {"article_id": id_, "title": id_.upper(), "lead": lead, "split": "test", "drop_reason": None}
        for id_, lead in leads.items()
    ]
    return pa.Table.from_pylist(rows, ARTICLES.schema)


def ranked(**paragraphs: Sequence[str | tuple[str, str]]) -> pa.Table:
    """Ranked paragraphs: article -> their pages in order of rank, or pages and texts."""
    rows = [
        {"article_id": id_, "rank": rank, "paragraph_id": rank, "url": url, "text": text}
        for id_, pages in paragraphs.items()
        for rank, (url, text) in enumerate((page, "text") if isinstance(page, str) else page for page in pages)
    ]
    return pa.Table.from_pylist(rows, RANKED.schema)


def prediction(article: str, system: str, summary: str, attention: list[list[float]] | None = None) -> dict[str, Any]:
    """A prediction whose tokens are its words."""
    tokens = [f"\u2581{word}" for word in summary.split()] if attention else []
    row = {"article_id": article, "system": system, "summary": summary}
    return {**row, "tokens": tokens, "attention": attention or []}


def predictions(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), PREDICTIONS.schema)


def scores(*more: str, **f1: dict[str, float]) -> pa.Table:
    """Scores: system -> article -> figure of every metric, and of some more."""
    rows = [
        {"article_id": id_, "system": system, "metric": metric, "precision": value, "recall": value, "value": value}
        for system, values in f1.items()
        for id_, value in values.items()
        for metric in (*METRICS, *more)
    ]
    return pa.Table.from_pylist(rows, SCORES.schema)


def ranking_scores(*rows: tuple[str, str, str, int, float]) -> pa.Table:
    """Ranking scores: (article, split, method, L', recall)."""
    names = RANKING_SCORES.schema.names
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], RANKING_SCORES.schema)


def graphs(article: str, nodes: int, similarity: list[tuple[int, int, float]]) -> pa.Table:
    edges = [{"i": i, "j": j, "weight": weight} for i, j, weight in similarity]
    row = {"article_id": article, "nodes": nodes, "similarity": edges, "discourse": []}
    return pa.Table.from_pylist([row], GRAPHS.schema)


def paragraphs(article: str, *texts: tuple[str, str | None]) -> pa.Table:
    """Paragraphs of an article: (text, reason for a drop)."""
    rows = [
        {"article_id": article, "paragraph_id": number, "text": text, "drop_reason": reason}
        for number, (text, reason) in enumerate(texts)
    ]
    return pa.Table.from_pylist(rows, PARAGRAPHS.schema)


def features(article: str, *labels: float) -> pa.Table:
    rows = [{"article_id": article, "paragraph_id": n, "rouge2_recall": label} for n, label in enumerate(labels)]
    return pa.Table.from_pylist(rows, FEATURES.schema)


def count(rows: int, drops: dict[str, int] | None = None, **notes: str) -> dict[str, Any]:
    """What `storage.builds.summarise` says of a stage."""
    taken = {"bytes": 2_500_000, "seconds": 1.5, "peak_bytes": 300_000_000}
    return {"rows": rows, "drops": drops or {}, **taken, "notes": notes}
