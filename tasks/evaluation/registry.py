"""The registry of all metrics, truth before ROUGE; a new one is a file with METRICS and `prepare`, and a line here."""

from collections.abc import Collection, Mapping
from types import ModuleType
from typing import get_args

from tasks.evaluation import (
    attention_metrics,
    bertscore_metrics,
    citation_metrics,
    entailment_metrics,
    facts,
    judge_metrics,
    rouge_metrics,
    style_metrics,
    value_metrics,
)
from tasks.evaluation.judge_settings import Judge
from tasks.evaluation.metrics import ArticleTexts, Group, Metric, Prepare, Score, Summary, SummaryScorer

_FILES: tuple[ModuleType, ...] = (
    value_metrics,
    citation_metrics,
    facts,
    rouge_metrics,
    style_metrics,
    attention_metrics,
)
_JUDGED: tuple[ModuleType, ...] = (
    entailment_metrics,
    judge_metrics,
    bertscore_metrics,
)  # these are prepared with their judge
_GROUPS = get_args(Group)

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in sorted(
        (metric for file in (*_FILES, *_JUDGED) for metric in file.METRICS),
        key=lambda metric: _GROUPS.index(metric.group),
    )
}


def known_metric(name: str) -> str:
    """Return the name of a metric. Raises ValueError: there is no metric of that name."""
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}, expected one of: {', '.join(METRICS)}")
    return name


def deciding_metric(name: str) -> str:
    """Return the name of a metric by which systems and versions can be ranked: a share, higher is better. Raises
    ValueError: there is no metric of that name, or its figure only describes, or lower is better."""
    metric = METRICS[known_metric(name)]
    if (metric.better, metric.unit) != ("higher", "percent"):
        fit = ", ".join(
            candidate.name
            for candidate in METRICS.values()
            if (candidate.better, candidate.unit) == ("higher", "percent")
        )
        raise ValueError(f"{name!r} cannot decide which of two systems is better, expected one of: {fit}")
    return name


def metric_name(name: str) -> str:
    """Return a metric's name for people; a name that is not in the registry is returned unchanged."""
    return METRICS[name].label if name in METRICS else name


def judges_of(wanted: Collection[str]) -> list[Judge]:
    """Return the judges that the requested metrics need, in the order of `METRICS`."""
    needed = (metric.judge for metric in METRICS.values() if metric.name in wanted)
    return list(dict.fromkeys(judge for judge in needed if judge is not None))


def prepare(
    article: ArticleTexts, wanted: Collection[str], judges: Mapping[Judge, Prepare] | None = None
) -> SummaryScorer:
    """Return a scorer of an article's summaries for the requested metrics, in the order of `METRICS`. `article`: its
    texts; `wanted`: names of the requested metrics; `judges`: all judges that they need, opened."""
    prepares = [file.prepare for file in _FILES if any(metric.name in wanted for metric in file.METRICS)]
    prepares += [(judges or {})[judge] for judge in judges_of(wanted)]
    scorers: list[SummaryScorer] = [each(article, wanted) for each in prepares]

    def score(summary: Summary) -> dict[str, Score]:
        scores = {name: score for scorer in scorers for name, score in scorer(summary).items()}
        return {name: scores[name] for name in METRICS if name in wanted and name in scores}

    return score
