"""The verifier: the probability that a passage says a sentence, and the fewest passages that say it.

A passage of an article is read as people read it: a sentence that begins with "It" or "The tower" is about its subject.
Words that are rare among the passages of a corpus carry most information; their weights are kept without the words.

Two forests decide. One compares a sentence with one passage, word by word. The other reads what the first one says of
each passage, and the evidence of all passages together (`evidence.py`): its answer is the mark. Sentences of language
models need the consent of `model_text.py` as well."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from models.values import measurable
from tasks.engine.hashing import stable_hash
from tasks.engine.trees import Trees
from tasks.text.language import function_word_share, sure_language
from tasks.verification import model_text, objections
from tasks.verification.alignment import longest_gap, matches, windows
from tasks.verification.evidence import PAIR_MEASURES, Evidence, gather, measures, parted_numbers, shipped_forest
from tasks.verification.features import NAMES, features
from tasks.verification.objections import Objection
from tasks.verification.references import in_context
from tasks.verification.words import ParsedText, WordKind, read

_UNSEEN = [NAMES.index("numbers_unseen"), NAMES.index("names_unseen")]  # a sentence with a missing one is never said
_COVERED = NAMES.index("covered_by_passage")
_LEAST_COVERED = 0.55  # share of a sentence's weight; few true hand-written sentences have less in their passage
_LONGEST_GAP = 2  # words in a row that the passage may lack; with more, part of the sentence is about something else
_OF_PAIR = [NAMES.index(name) for name in PAIR_MEASURES]
_FEATURES = stable_hash(*NAMES)  # in a file: a forest reads the features that it was trained with
_SHIPPED = "shipped.npz"
_TRIED = 8  # passages, those with most of a sentence's words, that are looked at closely
SUPPORTED_AT = 0.4  # probability from which passages support a sentence: `benchmarks.verifiers.wice`
_CLOSE = 0.8  # share of a sentence's words, by weight, from which the closest sentence of a passage has nearly all
_LANGUAGE = 600  # characters of a text that decide its language
_LEAST_ENGLISH = 0.1  # share of the commonest English words below which a text may be in another language
_MOST_TOGETHER = 3  # passages that say a sentence together, as many as ALCE cites (Gao et al. 2023)
_REFUSED_AT = 0.39  # highest probability of a refused sentence
_BUCKETS = 1 << 15  # two words in one bucket count as one
_LEAST, _STEPS = 0.1, 255  # lowest weight of a word


class Support(StrEnum):
    """How a sentence is supported."""

    SAID = "said"  # in one passage
    COMBINED = "combined"  # in other words, or by several passages together
    REPORTED = "reported"  # a passage has it as somebody's words
    UNSUPPORTED = "unsupported"
    UNJUDGED = "unjudged"  # the verifier does not know its script or language


@dataclass(frozen=True)
class Finding:
    """What supports a sentence."""

    support: Support
    probability: float  # that the passages support it, 0-1; 0 where it is not judged
    # the fewest that support it, by their index; empty if none does
    passages: tuple[int, ...] = ()
    objection: Objection | None = None  # why evidence that has its words does not say it


@dataclass(frozen=True)
class Judged:
    """The results for a sentence and N passages before the mark."""

    evidence: Evidence
    alone: NDArray[np.float64]  # [N] the probability that each passage says it
    row: NDArray[np.float32]  # features of the forest of the evidence


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
        """Count in how many passages words have small letters: names, which mostly have capitals, carry most
        information."""
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
    """Gives the probability that passages say sentences; loaded from a data file, or learned from a corpus
    (`learning.py`). `said_at`: probability from which a sentence counts as said."""

    def __init__(self, forest: Trees, weights: WordWeights, said_at: float) -> None:
        self._forest, self.weigh, self.said_at = forest, weights, said_at

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return [N], the probability (0-1) that the passage of each pair (sentence, passage) says the sentence.

        It is 1 for what the passage has word for word as whole sentences, whatever surrounds them. It is 0 if
        either has no content words, if words repeat that do not in the passage ("was was"), or if the passage has the
        words and says something else (`objections.py`). It is also 0 for sentences in scripts without capitals, which
        are not judged."""
        result = np.zeros(len(pairs))
        rows, places, gaps = [], [], []
        for position, (sentence, passage) in enumerate(pairs):
            own, other = read(sentence), read(passage)
            if not own.content or not other.content or not measurable(sentence):
                continue
            if own.lines <= other.lines:
                result[position] = 1.0
            elif not own.repeats or own.repeats <= other.repeats:  # of a passage, only when they are needed
                rows.append(features(own, other, self.weigh))
                places.append(position)
                gaps.append(longest_gap(matches(own, other)) if rows[-1][_COVERED] < 1 else 0)
        if rows:
            table = np.array(rows, np.float32)
            refused = table[:, _UNSEEN].any(axis=1) | (table[:, _COVERED] < _LEAST_COVERED)
            refused |= np.array(gaps) > _LONGEST_GAP
            result[places] = np.where(refused, 0.0, self._forest.predict(table))
        for (sentence, passage), index in zip(pairs, range(len(pairs)), strict=True):
            if self.said_at <= result[index] < 1:
                evidence = gather(read(sentence), [read(passage)], self.weigh)
                if evidence is not None and self.objection(sentence, [passage], evidence) is not None:
                    result[index] = 0.0
        return result

    def finding(
        self,
        sentence: str,
        passages: Sequence[str],
        title: str = "",
        prior: Sequence[float] | NDArray[np.floating] | None = None,
        *,
        by_model: bool = False,
    ) -> Finding:
        """Return the fewest passages that say a sentence, and the likeliest among sets of that size. `title`: of the
        article, known to all: sentences of passages that begin with "It" or "The tower" may be about it. `prior`: of
        each passage, how likely it was the source, such as attention; decides between those that say it. `by_model`:
        whether a language model wrote the sentence."""
        if not measurable(sentence):
            return Finding(Support.UNJUDGED, 0.0)
        order = self.likeliest(sentence, passages)
        if not order:
            return Finding(Support.UNSUPPORTED, 0.0)
        texts = [in_context(passages[index], title, sentence) for index in order]
        judged = self.judged(sentence, texts)
        if judged is None:
            return Finding(Support.UNSUPPORTED, 0.0)
        copied = bool(judged.alone.max() == 1)
        if not copied and any(_is_foreign(text) for text in (sentence, texts[0])):
            return Finding(Support.UNJUDGED, 0.0)  # it has learned English; a copy is said in any language
        probability = 1.0 if copied else float(shipped_forest().predict(judged.row[None])[0])
        if by_model and not copied:
            parsed = [read(text) for text in texts]
            probability = model_text.probability(read(sentence), parsed, judged.evidence, probability)
        objected = None if copied else self.objection(sentence, texts, judged.evidence)
        if probability < SUPPORTED_AT or self.lacks(sentence, texts, judged.evidence):
            return Finding(Support.UNSUPPORTED, min(probability, _REFUSED_AT), (), objected)
        saying = [n for n, alone in enumerate(judged.alone) if alone >= self.said_at]
        if saying:
            likely = [0.0 if prior is None else float(prior[index]) for index in order]
            best = max(saying, key=lambda n: (likely[n], judged.alone[n], -order[n]))
            return Finding(Support.SAID, probability, (order[best],))
        cited = tuple(sorted({order[n] for n, _ in judged.evidence.needed()}))
        if objected is None and len(cited) <= _MOST_TOGETHER and not parted_numbers(read(sentence), judged.evidence):
            return Finding(Support.SAID if len(cited) == 1 else Support.COMBINED, probability, cited)
        if objected is Objection.REPORTED:
            return Finding(Support.REPORTED, probability, cited, objected)
        return Finding(Support.UNSUPPORTED, _REFUSED_AT, (), objected)

    def lacks(self, sentence: str, texts: Sequence[str], evidence: Evidence) -> bool:
        """Tell whether a sentence has something that no text has: a value, too many of its words or several in a row,
        or repeated words ("was was")."""
        claim = read(sentence)
        repeats = bool(claim.repeats) and not any(claim.repeats <= read(text).repeats for text in texts)
        gap = max((len(list(run)) for held, run in groupby(evidence.anywhere > 0) if not held), default=0)
        return repeats or evidence.lacks_values(claim) or gap > _LONGEST_GAP or evidence.coverage() < _LEAST_COVERED

    def judged(self, sentence: str, texts: Sequence[str]) -> "Judged | None":
        """Return the second forest's features of a sentence and passages; None if they have none of its words."""
        claim, parsed = read(sentence), [read(text) for text in texts]
        evidence = gather(claim, parsed, self.weigh)
        if evidence is None:
            return None
        alone = self.probabilities([(sentence, text) for text in texts])
        together = read(_needed(parsed, evidence))
        pair = features(claim, together, self.weigh)
        joined = float(self._forest.predict(np.array([pair], np.float32))[0])
        row = measures(claim, evidence, [float(alone.max()), joined, *(pair[place] for place in _OF_PAIR)])
        return Judged(evidence, alone, row)

    def objection(self, sentence: str, texts: Sequence[str], evidence: Evidence) -> Objection | None:
        """Return why evidence with words of a sentence does not say it; None if no rule objects."""
        sentences = [read(texts[n]).sentences[row] for n, row in evidence.needed()]
        return objections.objection(sentence, sentences, close=evidence.coverage(1) >= _CLOSE)

    def quote(self, sentence: str, passage: str) -> str:
        """Return the sentence of a passage that comes closest to saying a sentence; the passage if it has none."""
        own, other = read(sentence), read(passage)
        if not own.content or not other.content:
            return next(iter(other.sentences), passage)
        single, _ = windows(matches(own, other), self._weights(sentence), other)
        return other.sentences[single.sentences[0]]

    def premise(self, sentence: str, passages: Sequence[str], title: str = "") -> str:
        """Return the sentences of passages that hold a sentence's words, in their order, where names replace pronouns;
        whole passages if they hold none. A model of entailment overlooks what is said among much else."""
        texts = [in_context(passage, title, sentence) for passage in passages]
        parsed = [read(text) for text in texts]
        evidence = gather(read(sentence), parsed, self.weigh)
        return "\n".join(texts) if evidence is None else _needed(parsed, evidence)

    def _weights(self, sentence: str) -> list[float]:
        own = read(sentence)
        return [self.weigh(own.words[place].text) for place in own.content]

    def likeliest(self, sentence: str, passages: Sequence[str]) -> list[int]:
        """Return the indices of the passages that hold most of a sentence's words, most first; at most eight."""
        own = read(sentence)
        keys = [(own.words[place].key, w) for place, w in zip(own.content, self._weights(sentence), strict=True)]
        texts = [read(passage) for passage in passages]
        held = [sum(w for key, w in keys if key in text.stems) for text in texts]
        order = sorted(range(len(texts)), key=lambda n: (not own.lines <= texts[n].lines, -held[n], n))
        return [place for place in order if held[place]][:_TRIED]

    def save(self, file: Path) -> None:
        """Write the verifier as NPZ."""
        said_at, asked = np.float64(self.said_at), np.uint64(_FEATURES)
        trees = np.frombuffer(self._forest.text.encode(), np.uint8)
        np.savez_compressed(file, words=self.weigh.table, said_at=said_at, features=asked, trees=trees)

    @classmethod
    def load(cls, file: Path | BinaryIO) -> "Verifier":
        """Read a verifier. Raises ValueError: it was learned from other features than this version computes."""
        with np.load(file, allow_pickle=False) as arrays:
            if int(arrays["features"]) != _FEATURES:
                raise ValueError(f"{file}: a verifier of other features than these; learn it again")
            forest = Trees(arrays["trees"].tobytes().decode())
            return cls(forest, WordWeights(arrays["words"]), float(arrays["said_at"]))


def _needed(texts: Sequence[ParsedText], evidence: Evidence) -> str:
    """Return the sentences that hold a noticeable part of the words, in the order of the texts."""
    return "\n".join(texts[n].sentences[row] for n, row in sorted(evidence.needed()))


@cache
def shipped() -> Verifier:
    """Return the verifier for passages without a corpus; `benchmarks.verifiers --teach` makes its file."""
    with files("tasks.verification").joinpath(_SHIPPED).open("rb") as file:
        return Verifier.load(file)  # type: ignore[arg-type]


@lru_cache(maxsize=2048)
def _is_foreign(text: str) -> bool:
    """Tell whether a text is surely in another language than English."""
    words = text[:_LANGUAGE].lower().split()
    return function_word_share(words) < _LEAST_ENGLISH and sure_language(text[:_LANGUAGE]) not in {None, "en"}
