"""Truth by values: which names, numbers and dates of a summary occur in its sources, and which of the lead's it has.

Entity-level factual consistency (Nan et al. 2021), also with numbers and dates. Every value counts once.
"""

from collections.abc import Collection

from tasks.evaluation.metrics import ArticleTexts, Metric, Score, Scorer, Summary
from tasks.evaluation.values import Evidence, find_values

METRICS = (
    Metric("values-input", "values in input", "truth",
           "of the names, numbers and dates in a summary, those that the paragraphs it was written from hold"),
    Metric("values-sources", "values in sources", "truth", "the same against all paragraphs of the article"),
    Metric("values-right", "values right", "truth",
           "of the names, numbers and dates in a summary, those that the lead has too"),
    Metric("values-recalled", "values recalled", "truth",
           "of the names, numbers and dates of the lead, those that the summary has"),
    Metric("values", "values F1", "truth", "F1 of values right and values recalled"),
)  # fmt: skip


def prepare(article: ArticleTexts, wanted: Collection[str]) -> Scorer:
    """Look up the article's texts once for all summaries."""
    everything = Evidence([article.title, *article.sources, *article.ranked])
    lead = Evidence([article.lead])
    context = Evidence([article.title, article.lead, *article.sources, *article.ranked])
    lead_values = find_values(article.lead, context)
    inputs: dict[int | None, Evidence] = {}

    def score(summary: Summary) -> dict[str, Score]:
        if summary.read not in inputs:
            inputs[summary.read] = Evidence([article.title, *article.ranked[: summary.read]])
        values, own = find_values(summary.text, context), Evidence([summary.text])
        scores: dict[str, Score] = {}
        if values:
            right = sum(value in lead for value in values) / len(values)
            scores["values-input"] = Score(sum(value in inputs[summary.read] for value in values) / len(values))
            scores["values-sources"] = Score(sum(value in everything for value in values) / len(values))
            scores["values-right"] = Score(right)
        if lead_values:
            recalled = sum(value in own for value in lead_values) / len(lead_values)
            scores["values-recalled"] = Score(recalled)
            scores["values"] = Score.of(right if values else 0.0, recalled)
        return scores

    return score
