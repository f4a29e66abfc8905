"""BM25 (Robertson & Zaragoza 2009) of one article's paragraphs, which are its collection."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

K1, B = 1.2, 0.75  # as Lucene has them: how soon repetitions stop to count, and how much length does


def bm25(query: Sequence[str], paragraphs: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the BM25 of P paragraphs for a query, all given as words, [P] float64 from 0. A word in n of P paragraphs
    weighs log(1 + (P - n + .5) / (n + .5)), as in Lucene, so that none counts against a paragraph."""
    counts = [Counter(paragraph) for paragraph in paragraphs]
    lengths = np.array([len(paragraph) for paragraph in paragraphs], dtype=np.float64)
    scores = np.zeros(len(paragraphs))
    if not lengths.any():
        return scores
    saturation = K1 * (1 - B + B * lengths / lengths.mean())
    for word, times in Counter(query).items():
        found = np.array([count[word] for count in counts], dtype=np.float64)
        holding = np.count_nonzero(found)
        weight = np.log(1 + (len(counts) - holding + 0.5) / (holding + 0.5))
        scores += times * weight * found * (K1 + 1) / (found + saturation)
    return scores
