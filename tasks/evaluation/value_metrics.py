"""Truth by values: which names, numbers and dates of a summary occur in its sources, and which of the lead's it has.

Entity-level factual consistency (Nan et al. 2021), also with numbers and dates. Every value counts once. A summary
that states no value is true of nothing, so that its shares are 0 and silence wins none of them; `values-none` says how
many such summaries there are. Where the names of a summary cannot be told, because its script has no capitals, it
counts among them."""

from collections.abc import Collection, Sequence

from models.values import Value, ValueIndex, find_values, measurable
from tasks.evaluation.metrics import ArticleTexts, Score, Summary, SummaryScorer


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Look up the article's texts once for all summaries."""
    everything = ValueIndex([article.title, *article.sources, *article.ranked])
    lead = ValueIndex([article.lead])
    context = ValueIndex([article.title, article.lead, *article.sources, *article.ranked])
    lead_values = find_values(article.lead, context)
    inputs: dict[int | None, ValueIndex] = {}

    def score(summary: Summary) -> dict[str, Score]:
        if summary.read not in inputs:
            inputs[summary.read] = ValueIndex([article.title, *article.ranked[: summary.read]])
        text = summary.text if measurable(summary.text) else ""
        values, own = find_values(text, context), ValueIndex([text])
        right = _share(values, lead)
        scores = {
            "values-input": Score(_share(values, inputs[summary.read])),
            "values-sources": Score(_share(values, everything)),
            "values-right": Score(right),
            "values-none": Score(float(not values)),
        }
        if lead_values:
            recalled = sum(value in own for value in lead_values) / len(lead_values)
            scores["values-recalled"] = Score(recalled)
            scores["values"] = Score.of(right, recalled)
        return scores

    return score


def _share(values: Sequence[Value], evidence: ValueIndex) -> float:
    return sum(value in evidence for value in values) / max(len(values), 1)
