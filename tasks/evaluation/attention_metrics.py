"""How evenly a summarizer attends to the documents while it writes: the cross-document standard deviation (CDS).

Shen et al. 2023, app. G: a token's attention to the paragraphs of each document is added up, a softmax is taken over
these sums, and the standard deviation of its shares is averaged over the tokens. As in their released code it is that
of a population, divided by N. The sums add up to 1, so the softmax leaves small numbers: two documents give .231 at
most, more give less; compare systems on the same articles. It is a deviation of shares, and shown in points of 100.
"""

from collections.abc import Collection, Sequence

import numpy as np

from tasks.evaluation.metrics import ArticleTexts, Floats, Metric, Score, Scorer, Summary

METRICS = (Metric("cds", "CDS", "style", "how unevenly each token of a summary attends to the documents", "neither"),)


def prepare(article: ArticleTexts, wanted: Collection[str]) -> Scorer:
    """Return the scorer; it leaves out summaries without attention, and those of fewer than two documents."""

    def score(summary: Summary) -> dict[str, Score]:
        if summary.attention is None or not len(summary.attention):
            return {}
        pages = article.pages[: summary.attention.shape[1]]
        if len(set(pages)) < 2:
            return {}
        return {"cds": Score(cross_document_deviation(summary.attention, pages))}

    return score


def cross_document_deviation(attention: Floats, pages: Sequence[str]) -> float:
    """Return the CDS of a summary.

    Args:
        attention: [T, P] of each of T > 0 tokens to each of P paragraphs, 0-1.
        pages: the document of each paragraph, at least one; columns beyond them are left out.
    """
    documents = {page: number for number, page in enumerate(dict.fromkeys(pages))}
    sums = np.zeros((len(attention), len(documents)))
    for column, page in enumerate(pages):
        sums[:, documents[page]] += attention[:, column]
    shares = np.exp(sums - sums.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return float(shares.std(axis=1).mean())
