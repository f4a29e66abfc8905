"""Which text raters prefer: wins between systems, and strengths by the model of Bradley & Terry (1952). Under it the
chance that system i is preferred to j is s_i / (s_i + s_j). Strengths are fitted by Hunter's (2004) MM iterations and
given as logarithms with mean 0, so a difference of 1.1 means odds of 3 to 1."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tasks.evaluation.significance import SIGNIFICANCE, Interval
from tasks.human_evaluation.answers import Judgement

Floats = NDArray[np.float64]
_PRIOR = 0.5  # wins of each side that every pair that met has in advance: without, a system that never wins has no
# finite strength
_ITERATIONS, _CLOSE = 2000, 1e-7


def wins(judgements: Sequence[Judgement], systems: Sequence[str]) -> Floats:
    """Return [A, S, S]: for each article how often raters preferred system i to j; a tie is half a win for each. Two
    texts are compared if a rater judged both on an article: with the best and the worst of three, all three pairs."""
    index = {system: number for number, system in enumerate(systems)}
    shown: dict[tuple[str, int, str], list[Judgement]] = defaultdict(list)
    for one in judgements:
        shown[one.article, one.rater, one.unit].append(one)
    articles = {article: number for number, article in enumerate(sorted({one.article for one in judgements}))}
    found = np.zeros((len(articles), len(systems), len(systems)))
    for (article, *_), together in shown.items():
        for first, second in combinations(together, 2):
            i, j = index[first.system], index[second.system]
            share = 0.5 if first.value == second.value else float(first.value > second.value)
            found[articles[article], i, j] += share
            found[articles[article], j, i] += 1 - share
    return found


def strengths(found: Floats, seed: int) -> list[Interval] | None:
    """Return each system's strength with its bootstrap interval over articles; None where the systems never met.
    `found` are the [A, S, S] `wins`."""
    total = found.sum(axis=0)
    if not _connected(total + total.T > 0):
        return None
    random, articles = np.random.default_rng(seed), len(found)
    weights = random.multinomial(articles, np.full(articles, 1 / articles), size=SIGNIFICANCE.resamples)
    fitted = _fit(np.concatenate([total[None], np.einsum("ra,aij->rij", weights, found)]), total + total.T > 0)
    tail = (1 - SIGNIFICANCE.confidence) / 2
    low, high = np.quantile(fitted[1:], [tail, 1 - tail], axis=0)
    return [Interval(*map(float, column)) for column in zip(fitted[0], low, high, strict=True)]


def _fit(found: Floats, met: NDArray[np.bool_]) -> Floats:
    """Return log strengths [R, S] of win counts [R, S, S]."""
    found = found + _PRIOR * met
    games, won = found + found.transpose(0, 2, 1), found.sum(axis=2)
    strength = np.ones(won.shape)
    for _ in range(_ITERATIONS):
        renewed = won / (games / (strength[:, :, None] + strength[:, None, :])).sum(axis=2)
        renewed /= np.exp(np.log(renewed).mean(axis=1, keepdims=True))
        change = np.abs(np.log(renewed) - np.log(strength)).max()
        strength = renewed
        if change < _CLOSE:
            break
    return np.log(strength)


def _connected(met: NDArray[np.bool_]) -> bool:
    """Whether every system can be compared with every other, over others if need be."""
    reached = np.eye(len(met), dtype=bool)[0]
    for _ in met:
        reached = reached | met[reached].any(axis=0)
    return bool(reached.all())
