"""Truth by values: which names, numbers and dates of a summary occur in its sources, and which of the lead's it has.

Entity-level factual consistency (Nan et al. 2021), also with numbers and dates. Every value counts once. A summary
without values has shares of 0, so that silence gains nothing; `values-none` says how many such summaries there are.
Values of a repeated sentence, and of a list of values, count as wrong each time, so that repetition and lists gain
nothing. If the names of a summary cannot be recognised, because its script has no capitals, it counts among them."""

from collections.abc import Collection, Sequence

from models.sentences import split_sentences
from models.values import Value, ValueIndex, find_values, measurable
from tasks.evaluation.metrics import ArticleTexts, Score, Summary, SummaryScorer, first_times
from tasks.text.standalone import is_list


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
        prose, empty = _parted(text)
        values, own = find_values(prose, context), ValueIndex([prose])
        wasted = sum(len(find_values(sentence, context)) for sentence in empty)
        right = _share(values, lead, wasted)
        scores = {
            "values-input": Score(_share(values, inputs[summary.read], wasted)),
            "values-sources": Score(_share(values, everything, wasted)),
            "values-right": Score(right),
            "values-none": Score(float(not values and not wasted)),
        }
        if lead_values:
            recalled = sum(value in own for value in lead_values) / len(lead_values)
            scores["values-recalled"] = Score(recalled)
            scores["values"] = Score.of(right, recalled)
        return scores

    return score


def _parted(text: str) -> tuple[str, list[str]]:
    """Return a summary's sentences, and those that do not count: repeated ones, and lists of values."""
    sentences = split_sentences(text)
    parts: dict[bool, list[str]] = {True: [], False: []}
    for sentence, new in zip(sentences, first_times(sentences), strict=True):
        parts[new and not is_list(sentence)].append(sentence)
    return "\n".join(parts[True]), parts[False]


def _share(values: Sequence[Value], evidence: ValueIndex, wasted: int) -> float:
    return sum(value in evidence for value in values) / max(len(values) + wasted, 1)
