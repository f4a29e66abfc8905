"""ROUGE against the lead, as metrics (`tasks/evaluation/rouge.py` counts it)."""

from collections.abc import Collection

from tasks.evaluation.metrics import ArticleTexts, Metric, Score, Summary, SummaryScorer
from tasks.evaluation.rouge import METRICS as NAMES
from tasks.evaluation.rouge import Reference

_STEM = "-stem"


def _metric(name: str) -> Metric:
    label = name.removesuffix(_STEM).replace("rouge", "ROUGE-")
    stemmed = ", stemmed" if name.endswith(_STEM) else ""
    return Metric(name, f"{label}{stemmed}", "rouge", f"F1 of {label}{stemmed} against the lead")


METRICS = tuple(map(_metric, NAMES))


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Cut the lead into words and n-grams once for all summaries."""
    reference = Reference(article.lead, [name for name in NAMES if name in wanted])

    def score(summary: Summary) -> dict[str, Score]:
        return reference.score(summary.text)

    return score
