"""Every metric there is, truth before ROUGE; a new one is a file with METRICS and `prepare`, and a line here."""

from collections.abc import Collection, Mapping
from types import ModuleType

from tasks.evaluation import citation_metrics, facts, rouge_metrics, style_metrics, value_metrics
from tasks.evaluation.metrics import ArticleTexts, Metric, Score, Scorer, Summary
from tasks.sources.miniweb.settings import MiniwebSettings

_FILES: tuple[ModuleType, ...] = (value_metrics, citation_metrics, rouge_metrics, style_metrics)

_METRICS = (
    *value_metrics.METRICS,
    *citation_metrics.METRICS,
    *facts.METRICS,
    *rouge_metrics.METRICS,
    *style_metrics.METRICS,
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _METRICS}


def known_metric(name: str) -> str:
    """Return the name of a metric.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in METRICS:
        raise ValueError(f"unknown metric {name!r}, expected one of: {', '.join(METRICS)}")
    return name


def metric_name(name: str) -> str:
    """Return a metric's name for people; one of a table alone keeps its own."""
    return METRICS[name].label if name in METRICS else name


def prepare(article: ArticleTexts, wanted: Collection[str], world: MiniwebSettings | None = None) -> Scorer:
    """Return what scores summaries of an article under the metrics that are wanted, in the order of `METRICS`.

    Args:
        article: its texts.
        wanted: names of metrics.
        world: the mini web that the article is from; None = it is from elsewhere, where nobody knows all facts.
    """
    scorers: list[Scorer] = [
        file.prepare(article, wanted) for file in _FILES if any(metric.name in wanted for metric in file.METRICS)
    ]
    if world is not None and any(metric.name in wanted for metric in facts.METRICS):
        scorers.append(facts.fact_scorers(world)(article.title))

    def score(summary: Summary) -> dict[str, Score]:
        found = {name: score for scorer in scorers for name, score in scorer(summary).items()}
        return {name: found[name] for name in METRICS if name in wanted and name in found}

    return score
