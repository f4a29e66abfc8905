"""Evidence for a sentence: the few sentences of all passages that together hold its words, and which words they lack.

People who summarize use other words, and join what several sentences say. So evidence is gathered from several
sentences of any passage. A forest reads which words they lack, which words they hold together, and what the forest of
pairs says. It is fitted to WiCE (Kamoi et al. 2023), to lies made by rules and to sentences written by hand:
`python -m benchmarks.verifiers.wice`."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tasks.engine.data_files import read_data
from tasks.engine.trees import Trees
from tasks.verification.alignment import matches
from tasks.verification.words import ParsedText, Weigh, WordKind, may_be_derived, word_weights

MOST_SENTENCES = 5  # sentences of the evidence: few supported sentences of WiCE need more
_FEW = 3
_DERIVED = 0.7  # how much a name counts whose adjective alone is there
_NEAR = (-2, -1, 1, 2)
_VALUES = frozenset({WordKind.NAME, WordKind.NUMBER})
_PART = 0.08  # of a sentence's words by weight
SHIPPED = "evidence.txt.gz"
# Features of pairs (`features.NAMES`) that are also computed for the evidence as one passage.
PAIR_MEASURES = tuple(read_data("tasks.verification", "features.toml")["of_evidence"]["measures"].split())
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """Sentences that together hold most of a sentence with C content words."""

    sentences: tuple[tuple[int, int], ...]  # (passage, number of the sentence in it), most words first
    held: Floats  # [len(sentences), C] how surely each of them has each word, 0-1
    anywhere: Floats  # [C] how surely any sentence of any passage does
    weights: Floats  # [C] information of each word

    def coverage(self, most: int = MOST_SENTENCES) -> float:
        """Return the share of the words' weight that the first `most` sentences hold, 0-1."""
        return float(self.held[:most].max(axis=0) @ self.weights / self.weights.sum())

    def needed(self) -> list[tuple[int, int]]:
        """Return the sentences that hold a noticeable part of the words; at least one."""
        shares = [self.coverage(count) for count in range(1, len(self.sentences) + 1)]
        gains = [shares[0], *(after - before for before, after in pairwise(shares))]
        return [
            held for n, (held, gain) in enumerate(zip(self.sentences, gains, strict=True)) if not n or gain >= _PART
        ]

    def lacks_values(self, sentence: ParsedText) -> bool:
        """Tell whether no passage has one of the sentence's names or numbers."""
        values = np.array([sentence.words[place].kind in _VALUES for place in sentence.content])
        return bool((values & (self.anywhere == 0)).any())


def parted_numbers(sentence: ParsedText, evidence: Evidence) -> bool:
    """Tell whether no sentence of the evidence has a number together with the word after it, such as its unit."""
    kinds = [sentence.words[place].kind for place in sentence.content]
    numbers = [k for k, kind in enumerate(kinds[:-1]) if kind is WordKind.NUMBER and kinds[k + 1] is WordKind.WORD]
    together = evidence.held[:, [k + 1 for k in numbers]] * evidence.held[:, numbers]
    return bool((together.max(axis=0, initial=0) == 0).any())


def gather(sentence: ParsedText, passages: Sequence[ParsedText], weigh: Weigh) -> Evidence | None:
    """Return the evidence for a sentence, each next sentence the one that adds most weight; None if no passage has
    any of its words. `sentence`: with content words; `weigh`: information of a word in lower case, from 0."""
    words = [sentence.words[place] for place in sentence.content]
    weights = np.array(word_weights(words, weigh))
    index, rows = [], []
    for number, passage in enumerate(passages):
        table = _held(sentence, passage)
        index += [(number, row) for row in range(len(table))]
        rows.append(table)
    held = np.concatenate(rows) if rows else np.zeros((0, len(words)))
    if not held.any():
        return None
    chosen: list[int] = []
    covered = np.zeros(len(words))
    while len(chosen) < MOST_SENTENCES:
        gains = (np.maximum(held, covered) - covered) @ weights
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        chosen.append(best)
        covered = np.maximum(covered, held[best])
    return Evidence(tuple(index[row] for row in chosen), held[chosen], held.max(axis=0), weights)


def _held(sentence: ParsedText, passage: ParsedText) -> Floats:
    """Return [S, C], how surely each sentence of a passage holds each content word of a sentence."""
    table = np.zeros((len(passage.sentences), len(sentence.content)))
    for column, places in enumerate(matches(sentence, passage)):
        for place, quality in places.items():
            row = passage.words[place].sentence
            table[row, column] = max(table[row, column], quality)
        word = sentence.words[sentence.content[column]]
        if not places and word.kind is WordKind.NAME:
            for place in passage.content:
                if may_be_derived(word.key, passage.words[place].key):
                    table[passage.words[place].sentence, column] = _DERIVED
    return table


def measures(sentence: ParsedText, evidence: Evidence, of_pairs: Sequence[float]) -> NDArray[np.float32]:
    """Return [G], the features that decide whether the evidence supports a sentence. `of_pairs`: the results of the
    forest of pairs for the likeliest passage and for the evidence as one passage, then the `PAIR_MEASURES` of the
    latter."""
    share = evidence.weights / evidence.weights.sum()
    missing = (1 - evidence.held.max(axis=0)) * evidence.weights
    worst = np.sort(np.append(missing, [0.0, 0.0]))[::-1]
    values = np.array([sentence.words[place].kind in _VALUES for place in sentence.content])
    row = [
        *worst[:3],
        missing.sum(),
        (missing > 0).sum(),
        missing @ values,
        evidence.coverage(),
        evidence.coverage(_FEW),
        evidence.coverage(1),
        evidence.anywhere @ share,
        ((1 - evidence.anywhere) * values).sum(),
        len(missing),
        values.sum(),
        *_together(evidence, values),
        len(evidence.needed()),
        len({passage for passage, _ in evidence.needed()}),
    ]
    return np.array([*row, *of_pairs], np.float32)


def _together(evidence: Evidence, values: NDArray[np.bool_]) -> list[float]:
    """Return six shares of words that one sentence of the evidence holds together: neighbours, words two apart, values
    with the words around them (mean and least), values with other values (mean and least)."""
    held, weights = evidence.held, evidence.weights
    count = held.shape[1]

    def joint(a: int, b: int) -> float:
        return float((held[:, a] * held[:, b]).max())

    pairs = [weights[k] + weights[k + 1] for k in range(count - 1)]
    next_to = sum(joint(k, k + 1) * pair for k, pair in enumerate(pairs)) / (sum(pairs) or 1.0)
    apart = [joint(k, k + 2) for k in range(count - 2)] or [1.0]
    here = [int(k) for k in np.flatnonzero(values)]
    around = [
        max([joint(k, k + step) for step in _NEAR if 0 <= k + step < count and not values[k + step]] or [1.0])
        for k in here
    ] or [1.0]
    others = [max([joint(k, j) for j in here if j != k] or [1.0]) for k in here] or [1.0]
    return [next_to, float(np.mean(apart)), float(np.mean(around)), min(around), float(np.mean(others)), min(others)]


@cache
def shipped_forest() -> Trees:
    """Return the forest over `measures`; `python -m benchmarks.verifiers.wice --fit` makes its file."""
    return Trees(gzip.decompress(files("tasks.verification").joinpath(SHIPPED).read_bytes()).decode("ascii"))
