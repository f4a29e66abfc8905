"""Weights of the extractor: what a concept and a sentence are worth, learned from leads (`learning.py`).

They are numbers over features, so that the shipped ones hold no text of the topics they were learned from.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.extractive.features import SentencePlaces, concept_features, sentence_features
from tasks.extractive.pile import KINDS, Floats, Pile

TARGETS = ("bigrams", "values")  # of a sentence: the share of each that the lead has too


@dataclass(frozen=True)
class Logistic:
    """A logistic regression on standardised features.

    Attributes:
        mean, scale, weight: [F] of each feature; scale > 0.
        bias: of the sum.
    """

    mean: Sequence[float]
    scale: Sequence[float]
    weight: Sequence[float]
    bias: float

    def __call__(self, features: Floats) -> Floats:
        """Return the probability [C] of each row of features [C, F]."""
        total = (features - np.array(self.mean)) / np.array(self.scale) @ np.array(self.weight) + self.bias
        return np.asarray(1 / (1 + np.exp(-total)))


@dataclass(frozen=True)
class Trees:
    """Boosted regression trees; the nodes of all trees are in one list.

    Attributes:
        base: of the sum.
        roots: [T] the first node of each tree.
        feature: [M] which feature a node asks; -1 for a leaf.
        threshold: [M] a row whose feature is at most this goes left; the value of a leaf.
        left, right: [M] the next node; 0 for a leaf.
    """

    base: float
    roots: Sequence[int]
    feature: Sequence[int]
    threshold: Sequence[float]
    left: Sequence[int]
    right: Sequence[int]

    def __call__(self, features: Floats) -> Floats:
        """Return the value [N] of each row of features [N, F]."""
        feature, threshold = np.array(self.feature), np.array(self.threshold)
        left, right = np.array(self.left), np.array(self.right)
        nodes: NDArray[np.int64] = np.tile(np.array(self.roots, np.int64)[:, None], (1, len(features)))
        rows = np.arange(len(features))
        while (asks := feature[nodes] >= 0).any():
            goes_left = features[rows, feature[nodes]] <= threshold[nodes]
            nodes = np.where(asks, np.where(goes_left, left[nodes], right[nodes]), nodes)
        return np.asarray(self.base + threshold[nodes].sum(axis=0))


@dataclass(frozen=True)
class Worth:
    """What a pile's concepts and sentences are worth.

    Attributes:
        concepts: of each kind, [C] the probability that a lead of the topic has the concept.
        sentences: [N, 2] expected share of a sentence's bigrams and of its values that the lead has.
    """

    concepts: Sequence[Floats]
    sentences: Floats


@dataclass(frozen=True)
class Weights:
    """What was learned: a model for each kind of concept, and for each target of a sentence."""

    concepts: Sequence[Logistic]
    sentences: Sequence[Trees]

    def worth(self, pile: Pile) -> Worth:
        """Return what the concepts and sentences of a pile are worth."""
        places = SentencePlaces(pile)
        found = [model(concept_features(pile, places, kind)) for kind, model in enumerate(self.concepts)]
        features = sentence_features(pile, places, found)
        return Worth(found, np.column_stack([model(features) for model in self.sentences]))

    def to_json(self) -> str:
        """Return the weights as JSON, four digits a number: the last ones tell of no topic."""
        plain = {
            "concepts": dict(zip(KINDS, map(asdict, self.concepts), strict=True)),
            "sentences": dict(zip(TARGETS, map(asdict, self.sentences), strict=True)),
        }
        return json.dumps(_short(plain), indent=None, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Weights":
        """Return weights from JSON.

        Raises:
            ValueError: it is not JSON of weights.
        """
        try:
            plain = json.loads(text)
            concepts = [Logistic(**plain["concepts"][kind]) for kind in KINDS]
            sentences = [Trees(**plain["sentences"][target]) for target in TARGETS]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"these are no weights of an extractor: expected JSON of `to_json`, missing {error}"
            ) from error
        return cls(concepts, sentences)


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _short(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


@cache
def shipped() -> Weights:
    """Return the default weights, learned on topics of other people (`benchmarks/extractors.py`)."""
    return Weights.from_json(files("tasks.extractive").joinpath("weights.json").read_text(encoding="utf-8"))
