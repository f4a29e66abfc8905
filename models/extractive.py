"""Extractive systems: Lead, LexRank and the oracle (Liu & Lapata 2019, sec. 4), as pure functions. Shape: N paragraphs
of one article. The caller defines the similarity of paragraphs and the score of a selection."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from models.words import cut, written_words

Floats = NDArray[np.float64]
_DAMPING = 0.85  # probability of following an edge; 1 - d in the notation of Erkan & Radev 2004


def first_words(texts: Iterable[str], length: int) -> str:
    """Return the first `length` words of no more texts than needed, each on one line. Raises ValueError: a negative
    length."""
    if length < 0:
        raise ValueError(f"a summary cannot have {length} words: expected 0 or more")
    taken: list[str] = []
    for text in texts:
        line = " ".join(text.split())
        words = len(written_words(line))
        if words >= length:
            return " ".join([*taken, *cut(line, length)[:1]] if length else taken)
        if words:
            taken.append(line)
        length -= words
    return " ".join(taken)


def lexrank_scores(similarity: NDArray[np.floating], *, tolerance: float = 1e-8, iterations: int = 200) -> Floats:
    """Score paragraphs by their centrality in the similarity graph (Erkan & Radev 2004; Liu & Lapata 2019, sec. 4).

    The stationary distribution of a random walk that follows edges, in proportion to their weight, with probability
    .85 and otherwise jumps to any paragraph. Self links (the diagonal) count, as in the article's algorithm.
    From a paragraph without edges the walk jumps to any paragraph with equal probability. It ends when an iteration
    moves less than `tolerance` of the probability (L1), or less exactly after `iterations`.

    Given the weights [N, N] >= 0, which are kept (continuous LexRank), returns [N] float64 that sum to 1.
    Raises ValueError: the matrix is not square or has negative or non-finite weights."""
    weights = np.asarray(similarity, dtype=np.float64)
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"expected a similarity matrix of shape N x N, got {weights.shape}")
    n = len(weights)
    if n == 0:
        return np.zeros(0)
    if not weights.min() >= 0 or not np.isfinite(weights.max()):
        raise ValueError("similarity has negative or non-finite weights: expected finite weights >= 0")
    degrees = weights.sum(axis=1)
    isolated = degrees == 0
    # Dividing the vector by the degrees, not the rows of the matrix, gives the same walk without a second N x N array.
    inverse = np.divide(1.0, degrees, out=np.zeros(n), where=~isolated)
    scores = np.full(n, 1.0 / n)
    for _ in range(iterations):
        flow = (scores * inverse) @ weights
        flow += scores[isolated].sum() / n
        moved = _DAMPING * flow + (1.0 - _DAMPING) / n
        change = float(np.abs(moved - scores).sum())
        scores = moved
        if change < tolerance:
            break
    total = scores.sum()
    return np.asarray(scores / total)


def best_first(scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the indices of `scores` ([N]) from the highest to the lowest; ties keep their order."""
    return np.argsort(-scores, kind="stable")


def greedy_oracle(candidates: Iterable[int], score: Callable[[Sequence[int]], float]) -> list[int]:
    """Pick the paragraphs that together score best against the target: an upper bound for extractive systems. Greedy:
    the paragraph that raises the score most, such as the ROUGE-2 F1 of all that are chosen, is added until none raises
    it; on a tie the first is taken. They are in the order in which they were chosen; none, if none scores above 0."""
    chosen: list[int] = []
    free = list(candidates)
    best = 0.0
    while free:
        gains = [score([*chosen, candidate]) for candidate in free]
        top = max(gains)
        if top <= best:
            break
        best = top
        chosen.append(free.pop(gains.index(top)))
    return chosen
