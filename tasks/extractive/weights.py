"""Weights of the extractor: what a concept and a sentence are worth, learned from topics that have a lead.

They are numbers over features, so that the shipped ones hold no text of the topics they were learned from.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.values import ValueIndex
from tasks.engine.trees import Nodes, Trees, model_text
from tasks.extractive.pile import KINDS, Concepts, Floats, Pile, SentencePlaces, concept_features, sentence_features
from tasks.text.ngrams import split_words

TARGETS = ("bigrams", "values")  # of a sentence: the share of each that the lead has too


@dataclass(frozen=True)
class Logistic:
    """A logistic regression on standardised features."""

    # [F] Of each feature; scale > 0
    mean: Sequence[float]
    scale: Sequence[float]
    weight: Sequence[float]
    bias: float  # of the sum

    def __call__(self, features: Floats) -> Floats:
        """Return the probability [C] of each row of features [C, F]."""
        total = (features - np.array(self.mean)) / np.array(self.scale) @ np.array(self.weight) + self.bias
        return np.asarray(1 / (1 + np.exp(-total)))


@dataclass(frozen=True)
class Worth:
    """What a pile's concepts and sentences are worth."""

    concepts: Sequence[Floats]  # of each kind, [C] the probability that a lead of the topic has the concept
    sentences: Floats  # [N, 2] expected share of a sentence's bigrams and of its values that the lead has
    shared: Floats  # [N] cosine of a sentence with the other sources, 0-1


@dataclass(frozen=True)
class Weights:
    """What was learned: a model for each kind of concept, and for each target of a sentence."""

    concepts: Sequence[Logistic]
    sentences: Sequence[Trees]

    def worth(self, pile: Pile) -> Worth:
        """Return what the concepts and sentences of a pile are worth."""
        places = SentencePlaces(pile)
        results = [model(concept_features(pile, places, kind)) for kind, model in enumerate(self.concepts)]
        features = sentence_features(pile, places, results)
        shares = np.column_stack([model.predict(features) for model in self.sentences])
        return Worth(results, shares, places.likeness[:, -1])

    def to_json(self) -> str:
        """Return the weights as JSON, five digits a number: further digits are noise."""
        plain = {
            "concepts": dict(zip(KINDS, map(asdict, self.concepts), strict=True)),
            "sentences": {target: model.text for target, model in zip(TARGETS, self.sentences, strict=True)},
        }
        short = json.loads(json.dumps(plain), parse_float=lambda digits: float(f"{float(digits):.5g}"))
        return json.dumps(short, separators=(",", ":")) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Weights":
        """Return weights from JSON. Raises ValueError: it is not JSON of weights."""
        try:
            plain = json.loads(text)
            concepts = [Logistic(**plain["concepts"][kind]) for kind in KINDS]
            sentences = [Trees(plain["sentences"][target]) for target in TARGETS]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"these are not weights of an extractor: expected JSON of `to_json`, missing {error}"
            ) from error
        return cls(concepts, sentences)


@cache
def shipped() -> Weights:
    """Return the default weights, learned on other topics (`benchmarks/extractors.py`)."""
    return Weights.from_json(files("tasks.extractive").joinpath("weights.json").read_text(encoding="utf-8"))


_CONCEPTS = (400, 800, 500)  # concepts of each kind drawn for a topic: a long pile must not outweigh the others
_SENTENCES = 150  # sentences that are drawn for each topic
_SEED = 1


@dataclass(frozen=True)
class LabelledPile:
    """A topic with a lead, as features and labels."""

    pile: Pile  # the topic's passages
    features: Sequence[Floats]  # of each kind, [C, F] of its concepts
    said: Sequence[NDArray[np.bool_]]  # of each kind, [C] whether the lead has the concept
    shares: Floats  # [N, 2] what the lead has of each sentence's bigrams and values; 0 where a sentence has none

    @classmethod
    def of(cls, pile: Pile, lead: str) -> "LabelledPile":
        """Return the example of a pile and the lead of its topic."""
        places, tokens = SentencePlaces(pile), split_words(lead, "unicode")
        known: tuple[Any, ...] = (frozenset(tokens), frozenset(pairwise(tokens)), ValueIndex([lead]))
        said = [
            np.array([name in item for name in concepts.names], np.bool_)
            for concepts, item in zip(pile.concepts, known, strict=True)
        ]
        features = [concept_features(pile, places, kind) for kind in range(len(KINDS))]
        sentences = len(pile.sentences)
        shares = [_share(pile.concepts[kind], said[kind], sentences) for kind in (1, 2)]
        return cls(pile, features, said, np.column_stack(shares))


def learn(examples: Sequence[LabelledPile]) -> Weights:
    """Return the weights that suit the examples best. The worth of a sentence is learned from probabilities of its
    concepts that were learned on the other half of the examples, because those of the same half are too sure. Raises
    ValueError: there are fewer than two examples with sentences, or their leads say nothing of them."""
    examples = [each for each in examples if each.pile.sentences]
    if len(examples) < 2:
        raise ValueError(f"{len(examples)} topics with sentences are too few to learn from: expected at least two")
    halves = examples[::2], examples[1::2]
    rows, targets = [], []
    for own, other in (halves, halves[::-1]):
        concepts = _concepts(other)
        for number, example in enumerate(own):
            results = [model(features) for model, features in zip(concepts, example.features, strict=True)]
            drawn = _drawn(len(example.pile.sentences), _SENTENCES, number)
            rows.append(sentence_features(example.pile, SentencePlaces(example.pile), results)[drawn])
            targets.append(example.shares[drawn])
    features, shares = np.vstack(rows), np.vstack(targets)
    return Weights(_concepts(examples), [_trees(features, shares[:, target]) for target in range(len(TARGETS))])


def _share(concepts: Concepts, said: NDArray[np.bool_], sentences: int) -> Floats:
    count = np.bincount(concepts.sentence, minlength=sentences)
    return np.bincount(concepts.sentence, said[concepts.concept], sentences) / np.maximum(count, 1)


def _drawn(size: int, most: int, number: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng([_SEED, number]).permutation(size)[:most])


def _concepts(examples: Sequence[LabelledPile]) -> list[Logistic]:
    models = []
    for kind, most in enumerate(_CONCEPTS):
        drawn = [(each, _drawn(len(each.said[kind]), most, number)) for number, each in enumerate(examples)]
        features = np.vstack([each.features[kind][rows] for each, rows in drawn])
        models.append(_logistic(features, np.concatenate([each.said[kind][rows] for each, rows in drawn])))
    return models


def _logistic(features: Floats, said: NDArray[np.bool_]) -> Logistic:
    from sklearn.linear_model import LogisticRegression  # here, because it takes a second that other work need not wait

    if said.all() or not said.any():
        raise ValueError("the leads say all or nothing of what the passages say: expected leads of the same topics")
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale < 1e-9] = 1.0
    result = LogisticRegression(C=0.1, max_iter=300, tol=1e-3).fit((features - mean) / scale, said)
    return Logistic(mean.tolist(), scale.tolist(), result.coef_[0].tolist(), float(result.intercept_[0]))


def _trees(features: Floats, shares: Floats, digits: int = 5) -> Trees:
    """Return boosted trees that predict shares, with so many digits a number."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        max_iter=120,
        learning_rate=0.05,
        max_leaf_nodes=6,
        min_samples_leaf=min(150, len(features) // 4 + 1),
        l2_regularization=5.0,
        random_state=_SEED,
    ).fit(features, shares)
    trees = [tree.nodes for (tree,) in model._predictors]  # the library has no other way to its trees
    base = Nodes([-1], [0.0], [0], [0], [model._baseline_prediction.item()])

    def nodes(tree: NDArray[Any]) -> Nodes:
        feature = np.where(tree["is_leaf"] != 0, -1, tree["feature_idx"])
        threshold, value = (
            [float(f"{number:.{digits}g}") for number in tree[name]] for name in ("num_threshold", "value")
        )
        return Nodes(feature, threshold, tree["left"].astype(np.int64), tree["right"].astype(np.int64), value)

    return Trees(model_text([base, *map(nodes, trees)], features.shape[1]))
