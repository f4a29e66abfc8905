"""How a summarizer attends to documents (Shen et al. 2023, sec. 6.3): each token to its own while the source is
encoded, and how evenly to all of them while it writes.

Own-document attention is the share of the encoder's attention, averaged over tokens, heads and layers, that goes to
tokens of the same document.

The cross-document standard deviation (CDS, app. G): a token's attention to the paragraphs of each document is added up,
a softmax is taken over these sums, and the standard deviation of its shares is averaged over the tokens. As in their
released code it is that of a population, divided by N. The sums add up to 1, so the softmax leaves small numbers: two
documents give .231 at most, more give less; compare systems on the same articles. It is a deviation of shares, and
shown in points of 100."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.evaluation.metrics import ArticleTexts, Floats, Score, Summary, SummaryScorer


def prepare(article: ArticleTexts, wanted: Collection[str]) -> SummaryScorer:
    """Return the scorer; it leaves out systems without the attention, and sources of fewer than two documents."""

    def score(summary: Summary) -> dict[str, Score]:
        scores: dict[str, Score] = {}
        for name, attention, figure in (
            ("cds", summary.attention, cross_document_deviation),
            ("own-document", summary.source_attention, own_document),
        ):
            if name in wanted and attention is not None and len(attention):
                pages = article.pages[: attention.shape[1]]
                if len(set(pages)) > 1:
                    scores[name] = Score(figure(attention, pages))
        return scores

    return score


def cross_document_deviation(attention: Floats, pages: Sequence[str]) -> float:
    """Return the CDS of a summary. `attention`: [T, P] of each of T > 0 tokens to each of P paragraphs, 0-1; `pages`:
    the document of each paragraph, at least one; columns beyond them are left out."""
    sums = attention[:, : len(pages)] @ _members(pages)
    shares = np.exp(sums - sums.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return float(shares.std(axis=1).mean())


def own_document(looks: Floats, pages: Sequence[str]) -> float:
    """Return the share of attention that stays in the document of the token that attends, 0-1. `looks`: [P, P] of the
    tokens of each of P paragraphs to those of each, all numbers together 1; `pages`: the document of each paragraph, at
    least one; paragraphs beyond them are left out."""
    members = _members(pages)
    return float((members.T @ looks[: len(pages), : len(pages)] @ members).trace())


def _members(pages: Sequence[str]) -> NDArray[np.float64]:
    """Return [P, N], 1 where a paragraph is of a document."""
    documents = {page: number for number, page in enumerate(dict.fromkeys(pages))}
    return np.eye(len(documents))[[documents[page] for page in pages]]
