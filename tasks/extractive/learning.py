"""Weights of the extractor, learned from topics that have a lead: which concepts and sentences does it have?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.values import ValueIndex
from tasks.extractive.features import SentencePlaces, concept_features, sentence_features
from tasks.extractive.pile import KINDS, Concepts, Floats, Pile
from tasks.extractive.weights import TARGETS, Logistic, Trees, Weights
from tasks.text.ngrams import split_words

_CONCEPTS = (400, 800, 500)  # of each kind, drawn of each topic: a long pile must not outweigh the others
_SENTENCES = 150  # likewise
_SEED = 1


@dataclass(frozen=True)
class LabelledPile:
    """A topic with a lead, as features and labels.

    Attributes:
        pile: the topic's passages.
        features: of each kind, [C, F] of its concepts.
        said: of each kind, [C] whether the lead has the concept.
        shares: [N, 2] what the lead has of each sentence's bigrams and values; 0 where a sentence has none.
    """

    pile: Pile
    features: Sequence[Floats]
    said: Sequence[NDArray[np.bool_]]
    shares: Floats

    @classmethod
    def of(cls, pile: Pile, lead: str) -> "LabelledPile":
        """Return the example of a pile and the lead of its topic."""
        places, tokens = SentencePlaces(pile), split_words(lead, "unicode")
        known: tuple[Any, ...] = (frozenset(tokens), frozenset(pairwise(tokens)), ValueIndex([lead]))
        said = [
            np.array([name in one for name in concepts.names], np.bool_)
            for concepts, one in zip(pile.concepts, known, strict=True)
        ]
        features = [concept_features(pile, places, kind) for kind in range(len(KINDS))]
        sentences = len(pile.sentences)
        shares = [_share(pile.concepts[kind], said[kind], sentences) for kind in (1, 2)]
        return cls(pile, features, said, np.column_stack(shares))


def learn(examples: Sequence[LabelledPile]) -> Weights:
    """Return the weights that suit the examples best.

    What a sentence is worth is learned from probabilities of its concepts that were learned on the other half of the
    examples, since those of the same examples look surer than they are.

    Raises:
        ValueError: there are fewer than two examples with sentences, or their leads say nothing of them.
    """
    examples = [each for each in examples if each.pile.sentences]
    if len(examples) < 2:
        raise ValueError(f"{len(examples)} topics with sentences are too few to learn from: expected at least two")
    halves = examples[::2], examples[1::2]
    rows, targets = [], []
    for own, other in (halves, halves[::-1]):
        concepts = _concepts(other)
        for number, example in enumerate(own):
            found = [model(features) for model, features in zip(concepts, example.features, strict=True)]
            drawn = _drawn(len(example.pile.sentences), _SENTENCES, number)
            rows.append(sentence_features(example.pile, SentencePlaces(example.pile), found)[drawn])
            targets.append(example.shares[drawn])
    features, shares = np.vstack(rows), np.vstack(targets)
    return Weights(_concepts(examples), [_trees(features, shares[:, target]) for target in range(len(TARGETS))])


def _share(concepts: Concepts, said: NDArray[np.bool_], sentences: int) -> Floats:
    count = np.bincount(concepts.sentence, minlength=sentences)
    return np.bincount(concepts.sentence, said[concepts.concept], sentences) / np.maximum(count, 1)


def _drawn(size: int, most: int, number: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng([_SEED, number]).permutation(size)[:most])


def _concepts(examples: Sequence[LabelledPile]) -> list[Logistic]:
    return [_logistic(*_drawn_concepts(examples, kind)) for kind in range(len(KINDS))]


def _drawn_concepts(examples: Iterable[LabelledPile], kind: int) -> tuple[Floats, NDArray[np.bool_]]:
    features, said = [], []
    for number, example in enumerate(examples):
        drawn = _drawn(len(example.said[kind]), _CONCEPTS[kind], number)
        features.append(example.features[kind][drawn])
        said.append(example.said[kind][drawn])
    return np.vstack(features), np.concatenate(said)


def _logistic(features: Floats, said: NDArray[np.bool_]) -> Logistic:
    from sklearn.linear_model import LogisticRegression  # here, because it takes a second that other work need not wait

    if said.all() or not said.any():
        raise ValueError("the leads say all or nothing of what the passages say: expected leads of the same topics")
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale[scale < 1e-9] = 1.0
    found = LogisticRegression(C=0.1, max_iter=300, tol=1e-3).fit((features - mean) / scale, said)
    return Logistic(mean.tolist(), scale.tolist(), found.coef_[0].tolist(), float(found.intercept_[0]))


def _trees(features: Floats, shares: Floats) -> Trees:
    from sklearn.ensemble import HistGradientBoostingRegressor

    model = HistGradientBoostingRegressor(
        max_iter=120,
        learning_rate=0.05,
        max_leaf_nodes=6,
        min_samples_leaf=min(150, len(features) // 4 + 1),
        l2_regularization=5.0,
        random_state=_SEED,
    ).fit(features, shares)
    roots: list[int] = []
    columns: dict[str, list[float]] = {"feature": [], "threshold": [], "left": [], "right": []}
    for (tree,) in model._predictors:  # the library has no other way to its trees
        start = len(columns["feature"])
        roots.append(start)
        for node in tree.nodes:
            leaf = bool(node["is_leaf"])
            columns["feature"].append(-1 if leaf else int(node["feature_idx"]))
            columns["threshold"].append(float(node["value"] if leaf else node["num_threshold"]))
            columns["left"].append(0 if leaf else start + int(node["left"]))
            columns["right"].append(0 if leaf else start + int(node["right"]))
    return Trees(
        float(model._baseline_prediction.item()),
        roots,
        [int(each) for each in columns["feature"]],
        columns["threshold"],
        [int(each) for each in columns["left"]],
        [int(each) for each in columns["right"]],
    )
