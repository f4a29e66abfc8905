"""Whether passages support a sentence that a language model wrote in its own words.

Models join words of a passage to something that it does not say. The forest of the evidence has learned other errors,
those of rules and people. Four measures of words find more of a model's errors. Their weights are fitted to sentences
of a language model that we read (`python -m benchmarks.verifiers.model_text`). Both have to agree, since the measures
do not see a name in another's place, which the forest refuses."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tasks.engine.data_files import read_data
from tasks.text.ngrams import split_words
from tasks.verification.evidence import Evidence
from tasks.verification.words import ParsedText

LEAST_BY_FOREST = 0.2  # at less, another 5 of 100 lies made by rules pass, and hardly more true sentences of models
_FITTED = read_data("tasks.verification", "model_text.toml")


def probability(sentence: ParsedText, texts: Sequence[ParsedText], evidence: Evidence, forest: float) -> float:
    """Return the probability, 0-1, that passages support a sentence. `texts`: the passages with most of its words;
    `evidence`: their sentences that hold these words; `forest`: the probability by the forest of the evidence."""
    if forest < LEAST_BY_FOREST:
        return 0.0
    measures = model_text_measures(sentence, texts, evidence)
    return float(1 / (1 + np.exp(-(measures @ np.array(_FITTED["weights"]) + _FITTED["intercept"]))))


def model_text_measures(sentence: ParsedText, texts: Sequence[ParsedText], evidence: Evidence) -> NDArray[np.float64]:
    """Return [4] measures of a sentence. The first is the share of its pairs of neighbouring words that a passage has,
    the second the number of its content words that no passage has. The others are the shares of its words' information
    that all evidence has, and that the closest sentence of it has."""
    pairs = _pairs(sentence.raw)
    held = frozenset[tuple[str, str]]().union(*(_pairs(text.raw) for text in texts))
    stems = frozenset[str]().union(*(text.stems for text in texts))
    new = sum(sentence.words[place].key not in stems for place in sentence.content)
    shared = len(pairs & held) / max(1, len(pairs))
    return np.array([shared, new, evidence.coverage(), evidence.coverage(1)])


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    words = split_words(text)
    return frozenset(pairwise(words))
