"""The verifier: the probability that a passage says a sentence, and the fewest passages that say it.

A passage of an article is taken as readers take it: what begins with "It" or "The tower" is about its subject. Of
words, those tell most that are rare among the passages of a corpus; their weights are kept without the words.

Its forest of decision trees is plain arrays, so that it is read from a data file without pickle or scikit-learn."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from models.sentences import split_sentences
from models.values import measurable
from tasks.engine.hashing import stable_hash
from tasks.text.content_words import subject_of
from tasks.verification.alignment import longest_gap, matches, windows
from tasks.verification.features import NAMES, features
from tasks.verification.words import WordKind, read

_ROWS = 2048  # of the forest at a time: a row and a tree take some 40 bytes while they are descended
_LEAF = -1
_UNSEEN = [NAMES.index("numbers_unseen"), NAMES.index("names_unseen")]  # one that is not there is never said
_COVERED = NAMES.index("covered_by_passage")
_LEAST_COVERED = 0.55  # of a sentence, by weight: of those written by hand as true, few have less in their passage
_LONGEST_GAP = 2  # words in a row that the passage lacks; more, and part of the sentence is about something else
_FEATURES = stable_hash(*NAMES)  # in a file: a forest reads the features that it was taught with
_SHIPPED = "shipped.npz"
_TRIED = 8  # passages, those with most of a sentence's words, that are looked at closely
_COMBINED_AT = 0.4  # the least probability of what is put together, as every two passages are another chance
_COMBINED = 4  # of them, those that are tried in twos
_BUCKETS = 1 << 15  # two words in one bucket count as one
_LEAST, _STEPS = 0.1, 255  # of a word's weight
_PRONOUN = re.compile(r"(?:It|He|She|They)(?= )")
_POSSESSIVE = re.compile(r"(?:Its|His|Her|Their)(?= )")
_NOUN = re.compile(r"(?:The|This)(?= [a-z])")
_REMEMBERED = 2048  # passages


@dataclass(frozen=True)
class Forest:
    """Trees, all nodes one after another."""

    roots: NDArray[np.int32]  # [T] the first node of each tree
    feature: NDArray[np.int16]  # [M] which feature a node asks for; -1 at a leaf
    threshold: NDArray[np.float32]  # [M] a row goes left where its feature is at most this
    children: NDArray[np.int32]  # [M, 2] the nodes to the left and right
    share: NDArray[np.float16]  # [M] at a leaf, the weight of true examples in it, 0-1

    def probabilities(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return [N], the mean share of the leaves in which N rows of features end."""
        parts = [self._mean(rows[start : start + _ROWS]) for start in range(0, len(rows), _ROWS)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _mean(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        nodes = np.tile(self.roots, len(rows))
        owners = np.repeat(np.arange(len(rows)), len(self.roots))
        going = np.arange(len(nodes))
        while len(going):
            at = nodes[going]
            inner = self.feature[at] != _LEAF
            going, at = going[inner], at[inner]
            right = rows[owners[going], self.feature[at]] > self.threshold[at]
            nodes[going] = self.children[at, right.astype(np.intp)]
        leaves = self.share[nodes].astype(np.float64)
        means: NDArray[np.float64] = leaves.reshape(len(rows), len(self.roots)).mean(axis=1)
        return means

    @classmethod
    def fit(
        cls, rows: NDArray[np.float32], true: NDArray[np.bool_], weights: NDArray[np.float64], trees: int, seed: int
    ) -> "Forest":
        """Learn a random forest (Breiman 2001) with scikit-learn. `rows`: [N, F] features; `true`: [N] what is to be
        told; `weights`: [N] of each row; `trees`: how many; `seed`: of the trees' choices."""
        from sklearn.ensemble import RandomForestClassifier  # here, because it takes a second that readers need not

        model = RandomForestClassifier(
            trees, min_samples_leaf=6, max_leaf_nodes=400, max_features=0.35, random_state=seed, n_jobs=1
        )
        model.fit(rows, true, sample_weight=weights)
        found = [estimator.tree_ for estimator in model.estimators_]
        starts = np.cumsum([0, *(tree.node_count for tree in found)])
        children = [
            np.stack([tree.children_left, tree.children_right], axis=1) + start
            for tree, start in zip(found, starts, strict=False)
        ]
        place = list(model.classes_).index(True)
        return cls(
            roots=starts[:-1].astype(np.int32),
            feature=np.concatenate([np.maximum(tree.feature, _LEAF) for tree in found]).astype(np.int16),
            threshold=np.concatenate([tree.threshold for tree in found]).astype(np.float32),
            children=np.concatenate(children).astype(np.int32),
            share=np.concatenate([tree.value[:, 0, place] for tree in found]).astype(np.float16),
        )


class Support(StrEnum):
    """How a sentence is supported."""

    SAID = "said"  # in one passage
    COMBINED = "combined"  # only put together from two
    UNSUPPORTED = "unsupported"
    UNJUDGED = "unjudged"  # the verifier does not know its script


@dataclass(frozen=True)
class Finding:
    """What supports a sentence."""

    support: Support
    probability: float  # that the passages say it, 0-1; 0 where it is not judged
    # the fewest that support it, by their place in what was given; empty where none does
    passages: tuple[int, ...] = ()


class WordWeights:
    """The weight of a word, 0.1 (in every passage) to 1 (in none). `table`: [32768] uint8, the weight times 255 of the
    words of each bucket of the stable hash."""

    def __init__(self, table: NDArray[np.uint8]) -> None:
        self.table = table

    def __call__(self, word: str) -> float:
        """Return the weight of a word in lower case."""
        return float(self.table[_bucket(word)]) / _STEPS

    @classmethod
    def of(cls, passages: Iterable[str]) -> "WordWeights":
        """Count in how many passages words stand in small letters: names, which mostly do not, tell most."""
        counts = np.zeros(_BUCKETS)
        total = 1
        for passage in passages:
            total += 1
            held = {_bucket(word.text) for word in read(passage).words if word.kind is WordKind.WORD}
            counts[list(held)] += 1
        weights = 1 - np.log1p(counts) / np.log(total + 1)
        return cls(np.round(_STEPS * weights.clip(_LEAST, 1)).astype(np.uint8))


@lru_cache(maxsize=65_536)
def _bucket(word: str) -> int:
    return stable_hash("word", word) % _BUCKETS


class Verifier:
    """Says how likely passages say sentences; loaded from a data file, or learned from a corpus (`learning.py`).
    `said_at`: probability from which a sentence counts as said."""

    def __init__(self, forest: Forest, weights: WordWeights, said_at: float) -> None:
        self._forest, self._weigh, self.said_at = forest, weights, said_at

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return [N], the probability (0-1) that the passage of each pair (sentence, passage) says the sentence.

        It is 1 for what the passage has word for word as whole sentences, whatever stands beside them. It is 0 where
        either has no content words, where words stand right after themselves that do not in the passage ("was was"),
        and for sentences in scripts without capitals, which are not judged."""
        found = np.zeros(len(pairs))
        rows, places, gaps = [], [], []
        for place, (sentence, passage) in enumerate(pairs):
            own, other = read(sentence), read(passage)
            if not own.content or not other.content or not measurable(sentence):
                continue
            if own.lines <= other.lines:
                found[place] = 1.0
            elif not own.repeats or own.repeats <= other.repeats:  # of a passage, only where they are asked
                rows.append(features(own, other, self._weigh))
                places.append(place)
                gaps.append(longest_gap(matches(own, other)) if rows[-1][_COVERED] < 1 else 0)
        if rows:
            table = np.array(rows, np.float32)
            refused = table[:, _UNSEEN].any(axis=1) | (table[:, _COVERED] < _LEAST_COVERED)
            refused |= np.array(gaps) > _LONGEST_GAP
            found[places] = np.where(refused, 0.0, self._forest.probabilities(table))
        return found

    def finding(
        self,
        sentence: str,
        passages: Sequence[str],
        title: str = "",
        prior: Sequence[float] | NDArray[np.floating] | None = None,
    ) -> Finding:
        """Return the fewest passages that say a sentence, of as few the likeliest. `title`: of the article, known to
        all: sentences of passages that begin with "It" or "The tower" may be about it; `prior`: of each passage, how
        likely it was the source, such as attention; decides between those that say it."""
        if not measurable(sentence):
            return Finding(Support.UNJUDGED, 0.0)
        order = self._likeliest(sentence, passages)
        if not order:
            return Finding(Support.UNSUPPORTED, 0.0)
        texts = {place: in_context(passages[place], title, sentence) for place in order}
        alone = self.probabilities([(sentence, texts[place]) for place in order])
        if alone.max() >= self.said_at:
            saying = [n for n, one in enumerate(alone) if one >= self.said_at]
            best = max(saying, key=lambda n: (1.0 if prior is None else float(prior[order[n]]), alone[n], -order[n]))
            return Finding(Support.SAID, float(alone[best]), (order[best],))
        quotes = {place: self.quote(sentence, texts[place]) for place in order[:_COMBINED]}
        pairs = list(combinations(sorted(quotes), 2))
        together = self.probabilities([(sentence, f"{quotes[a]}\n{quotes[b]}") for a, b in pairs])
        if len(together) and together.max() >= max(self.said_at, _COMBINED_AT):
            return Finding(Support.COMBINED, float(together.max()), pairs[int(together.argmax())])
        return Finding(Support.UNSUPPORTED, float(alone.max()))

    def quote(self, sentence: str, passage: str) -> str:
        """Return the sentence of a passage that comes closest to saying a sentence; the passage if it has none."""
        own, other = read(sentence), read(passage)
        if not own.content or not other.content:
            return next(iter(other.sentences), passage)
        single, _ = windows(matches(own, other), self._weights(sentence), other)
        return other.sentences[single.sentences[0]]

    def _weights(self, sentence: str) -> list[float]:
        own = read(sentence)
        return [self._weigh(own.words[place].text) for place in own.content]

    def _likeliest(self, sentence: str, passages: Sequence[str]) -> list[int]:
        """Return the passages that hold most of a sentence's words, most first."""
        own = read(sentence)
        keys = [(own.words[place].key, w) for place, w in zip(own.content, self._weights(sentence), strict=True)]
        texts = [read(passage) for passage in passages]
        held = [sum(w for key, w in keys if key in text.stems) for text in texts]
        order = sorted(range(len(texts)), key=lambda n: (not own.lines <= texts[n].lines, -held[n], n))
        return [place for place in order if held[place]][:_TRIED]

    def save(self, file: Path) -> None:
        """Write the verifier as NPZ."""
        said_at, asked = np.float64(self.said_at), np.uint64(_FEATURES)
        np.savez_compressed(file, words=self._weigh.table, said_at=said_at, features=asked, **vars(self._forest))

    @classmethod
    def load(cls, file: Path | BinaryIO) -> "Verifier":
        """Read a verifier. Raises ValueError: it was learned from other features than this version computes."""
        with np.load(file, allow_pickle=False) as arrays:
            if int(arrays["features"]) != _FEATURES:
                raise ValueError(f"{file}: a verifier of other features than these; learn it again")
            forest = Forest(**{name: arrays[name] for name in Forest.__dataclass_fields__})
            return cls(forest, WordWeights(arrays["words"]), float(arrays["said_at"]))


@cache
def shipped() -> Verifier:
    """Return the verifier for piles without a corpus; `benchmarks.verifiers --teach` makes its file."""
    with files("tasks.verification").joinpath(_SHIPPED).open("rb") as file:
        return Verifier.load(file)  # type: ignore[arg-type]


def in_context(passage: str, title: str, sentence: str) -> str:
    """Return a passage whose sentences name the subject, where a sentence names it and the passage does not. `passage`:
    source text of an article; `title`: of the article, "" = none; `sentence`: that the passage may say."""
    if not title:
        return passage
    subject = {word.key for word in read(title).words if word.kind}
    named = subject & {word.key for word in read(sentence).words}
    return passage if named <= read(passage).stems else _resolved(passage, subject_of(title))


@lru_cache(maxsize=_REMEMBERED)
def _resolved(passage: str, subject: str) -> str:
    return "\n".join(_about(sentence, subject) for sentence in split_sentences(passage))


def _about(sentence: str, subject: str) -> str:
    if match := _PRONOUN.match(sentence):
        return subject + sentence[match.end() :]
    if match := _POSSESSIVE.match(sentence):
        return f"{subject}'s{sentence[match.end() :]}"
    if match := _NOUN.match(sentence):
        return f"{subject}, {match[0].lower()}{sentence[match.end() :]}"
    return sentence
