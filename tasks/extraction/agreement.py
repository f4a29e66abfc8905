"""How far several texts extracted from one page agree with each other."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tasks.text.ngrams import split_words

_SHINGLE = 4  # words; shorter runs occur in any two texts on one subject
_COMPARED = 20_000  # words of a text that are compared: more than articles have, and few enough for memory
_RECALL_WEIGHT = 0.5  # relative to precision: the surplus of a longer text is more often menus than article


def agreement(texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return for each text how far the others agree with it (0-1), in the same order.

    The agreement is the mean of its F-measures against the others (van Rijsbergen 1979, beta squared = 1/2), counted
    on runs of four words, repetitions included. A text of fewer than four words has agreement 0.

    Args:
        texts: lines of each text, by its name; at least two texts.

    Raises:
        ValueError: fewer than two texts.
    """
    if len(texts) < 2:
        raise ValueError(f"agreement needs at least two texts, got {list(texts)}")
    shingles = {name: _shingles(lines) for name, lines in texts.items()}
    return {
        name: sum(_f_measure(shingles[name], shingles[other]) for other in texts if other != name) / (len(texts) - 1)
        for name in texts
    }


def _shingles(lines: Sequence[str]) -> Counter[tuple[str, ...]]:
    words = [word for line in lines for word in split_words(line, "unicode")][:_COMPARED]
    return Counter(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))


def _f_measure(text: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> float:
    shared = sum((text & other).values())
    return (1 + _RECALL_WEIGHT) * shared / (text.total() + _RECALL_WEIGHT * other.total()) if shared else 0.0
