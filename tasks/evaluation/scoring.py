"""Score summaries: predictions against their articles, by the requested metrics (Liu & Lapata 2019, sec. 5, and
truth)."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import SCORES
from tasks.engine.grouping import join_by_article
from tasks.engine.job import Scratch
from tasks.engine.progress import Progress
from tasks.evaluation import attention_metrics, citations, facts, rouge, style_metrics, value_metrics
from tasks.evaluation.judges import open_judges
from tasks.evaluation.metrics import (
    COMPUTED,
    METRICS,
    ArticleTexts,
    Judge,
    Prepare,
    Score,
    Summary,
    SummaryScorer,
    judges_of,
)
from tasks.evaluation.settings import ScoringSettings
from tasks.sources.settings import MiniwebSettings

# What computes the metrics of each section of `metrics.toml` that needs no judge; `open_judges` has the others.
_PREPARES: Mapping[str, Prepare] = {
    "value_metrics": value_metrics.prepare,
    "citations": citations.prepare,
    "facts": facts.prepare,
    "rouge": rouge.prepare,
    "style_metrics": style_metrics.prepare,
    "attention_metrics": attention_metrics.prepare,
}


def score_predictions(
    articles: pa.Table,  # rows of these datasets, sorted by article
    predictions: pa.Table,
    ranked: pa.Table,
    paragraphs: pa.Table,
    settings: ScoringSettings,  # which metrics
    world: MiniwebSettings | None = None,  # the mini web of the articles, whose facts are known; None = another source
    *,
    device: str = "auto",  # of the judges' models: auto | cpu | cuda | cuda:N
    scratch: Scratch
    | None = None,  # where a language model's answers are kept while the shard is made, if one is asked
    progress: Callable[[Progress], None] | None = None,  # called after each article
) -> pa.Table:
    """Score every prediction against its article: SCORES rows in order of the predictions and of the metrics; a metric
    that is not defined for a summary has no row. Raises ValueError: a prediction's article is not in `articles` or
    refused, a system has two predictions for one, or a judge's model is of another kind. FileNotFoundError: a judge's
    model is missing. ChatError: a language model cannot be asked."""
    used = articles.filter(pc.is_null(articles["drop_reason"]))
    sources = paragraphs.filter(pc.is_null(paragraphs["drop_reason"]))
    wanted = frozenset(settings.metrics)
    rows: list[dict[str, Any]] = []
    started, seen = time.monotonic(), 0
    with open_judges(settings, judges_of(wanted) if predictions.num_rows else [], device, scratch) as judges:
        for article_id, article, summaries, best, kept in join_by_article(used, predictions, ranked, sources):
            if summaries.num_rows == 0:
                continue
            seen += summaries.num_rows
            systems = summaries["system"].to_pylist()
            if len(set(systems)) < len(systems):
                raise ValueError(f"article {article_id} has two summaries of one system: {sorted(systems)}")
            best = best.sort_by("rank")
            texts = ArticleTexts(
                title=article["title"][0].as_py(),
                lead=article["lead"][0].as_py(),
                ranked=best["text"].to_pylist(),
                sources=kept["text"].to_pylist(),
                pages=best["url"].to_pylist(),
                world=world,
            )
            scorer = prepare(texts, wanted, judges)
            for system, summary in zip(systems, _summaries(summaries), strict=True):
                rows += [
                    {"article_id": article_id, "system": system, "metric": metric, **vars(score)}
                    for metric, score in scorer(summary).items()
                ]
            if progress is not None:
                rate = seen / max(time.monotonic() - started, 1e-9)
                text = f"{seen:,} of {predictions.num_rows:,} summaries, {rate:.1f} a second"
                progress(Progress(text, seen / predictions.num_rows))
    if seen < predictions.num_rows:
        used_ids = set(used["article_id"].to_pylist())
        strangers = (i for i in predictions["article_id"].to_pylist() if i not in used_ids)
        raise ValueError(f"predictions for articles that are missing or refused: {list(islice(strangers, 3))}")
    return pa.Table.from_pylist(rows, SCORES.schema)


def prepare(
    article: ArticleTexts, wanted: Collection[str], judges: Mapping[Judge, Prepare] | None = None
) -> SummaryScorer:
    """Return a scorer of an article's summaries for the requested metrics, in the order of `METRICS`. `article`: its
    texts; `wanted`: names of the requested metrics; `judges`: all judges that they need, opened."""
    asked = [name for name, metrics in COMPUTED.items() if name in _PREPARES and not set(metrics).isdisjoint(wanted)]
    scorers = [_PREPARES[name](article, wanted) for name in asked]
    scorers += [(judges or {})[judge](article, wanted) for judge in judges_of(wanted)]

    def score(summary: Summary) -> dict[str, Score]:
        scores = {name: score for scorer in scorers for name, score in scorer(summary).items()}
        return {name: scores[name] for name in METRICS if name in wanted and name in scores}

    return score


def _summaries(predictions: pa.Table) -> Iterator[Summary]:
    """Yield the summary of each system; a system with attention has read as many paragraphs as it has weights for."""
    columns = (predictions[name].to_pylist() for name in ("summary", "tokens", "attention", "source_attention"))
    for text, tokens, attention, looks in zip(*columns, strict=True):
        weights = np.asarray(attention, dtype=np.float32) if attention else None
        of_source = np.asarray(looks, dtype=np.float32) if looks else None
        yield Summary(text, None if weights is None else weights.shape[1], tokens or (), weights, of_source)
