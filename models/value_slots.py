"""Slots: the names and numbers of an article as single pieces of a vocabulary, whatever they are.

A small model learns what to say sooner if it need not learn how each name is spelt (Hermann et al. 2015 did so for
questions). A number, and words of a name that the vocabulary does not know, are replaced by a letter of a script that
texts do not use. It is the same letter wherever the article has this value, and another one in another article, so that
it says only of what kind the value is. The article's own name has the first letters."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from models.sentences import split_sentences
from models.values import MONTHS, ValueIndex, name_runs, number_places

_GLAGOLITIC, _DESERET, _LINEAR_B = range(0x2C00, 0x2C2F), range(0x10400, 0x10428), range(0x10000, 0x1005E)
_CAPITALS = [chr(code) for code in (*_GLAGOLITIC, *_DESERET)]
_SIGNS = [chr(code) for code in _LINEAR_B if chr(code).isalpha()]
SUBJECT, NAMES = _CAPITALS[:4], _CAPITALS[4:]  # capitals, as names have: rules for names see them as names
# Signs without case: next to a name they are not part of it.
YEARS, SMALL, MIDDLE, LARGE = _SIGNS[:40], _SIGNS[40:58], _SIGNS[58:73], _SIGNS[73:]
POOLS = (SUBJECT, NAMES, YEARS, SMALL, MIDDLE, LARGE)
SLOTS = tuple(letter for pool in POOLS for letter in pool)
_SLOT = re.compile(f"[{''.join(SLOTS)}]")
_OPENING = "([\u201c\u2018$\u20ac\u00a3\u00a5"  # a slot may be written onto these; it is read after a space
_PARTED = re.compile(rf"([{re.escape(_OPENING)}]|(?<!\S)[\"']) (?=[{''.join(SLOTS)}])")


class _Place(NamedTuple):
    start: int
    stop: int
    pool: str  # letters for it: names | years | small | middle | large
    key: str  # equal for equal values


class ValueSlots:
    """The slots of an article: which letter stands for which value."""

    def __init__(self, title: str, texts: Iterable[str], known: Callable[[str], bool]) -> None:
        """Give letters to the values of a title and texts, the first ones where there are more values than letters.
        `known`: whether the vocabulary has a word as one piece; such words of a name are not replaced, for they say
        what it names ("River", "Anna")."""
        self._known = known
        texts = [_without_slots(title), *map(_without_slots, texts)]
        words = ValueIndex([f"of {texts[0]}", *texts])  # the title's capitals are those of a name
        self._lower, self._inner = words.lower, words.inner_names
        self._found: dict[str, list[_Place]] = {}  # text -> its values
        written: dict[tuple[str, str], Counter[str]] = {}
        for text in texts:
            for place in self._places(text):
                written.setdefault((place.pool, place.key), Counter())[text[place.start : place.stop]] += 1
        own = next((place.key.split() for place in self._places(texts[0]) if place.pool == "names"), [])
        draw = random.Random(title)
        free = {"names": NAMES, "years": YEARS, "small": SMALL, "middle": MIDDLE, "large": LARGE}
        free = {pool: draw.sample(letters, len(letters)) for pool, letters in free.items()}
        free["subject"] = SUBJECT[::-1]
        self._letters: dict[tuple[str, str], str] = {}
        self.values: dict[str, str] = {}  # slot -> how the texts mostly write it
        for (pool, key), forms in sorted(written.items(), key=lambda item: item[0][1] != " ".join(own)):
            of_subject = pool == "names" and set(key.split()) <= set(own)
            if letters := free["subject" if of_subject else pool]:
                letter = self._letters[pool, key] = letters.pop()
                self.values[letter] = max(forms, key=lambda form: forms[form])

    def cut(self, text: str) -> str:
        """Return a text with each value that has a slot replaced by it."""
        if not self._letters:
            return text
        text = _without_slots(text)
        result, end = [], 0
        for place in self._places(text):
            before = text[place.start - 1 : place.start]
            letter = self._letters.get((place.pool, place.key))
            if letter is not None and (not before.strip() or before in _OPENING or _opens(text, place.start - 1)):
                result.append(f"{text[end : place.start]}{' ' if before.strip() else ''}{letter}")
                end = place.stop
        return "".join(result) + text[end:]

    def _places(self, text: str) -> list[_Place]:
        """Return the values of a text in their order."""
        if text not in self._found:
            self._found[text] = self._find(text)
        return self._found[text]

    def _rare(self, run: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
        """Yield the places of the parts of a name without the words that the vocabulary knows."""
        for known, group in groupby(run, key=lambda word: self._known(_bare(word)) or word[0].casefold() in MONTHS):
            words = list(group)
            if not known:
                yield words[0].start(), words[-1].start() + len(_bare(words[-1]))

    def _find(self, text: str) -> list[_Place]:
        results = []
        for start, stop, number in number_places(text):
            results.append(_Place(start, stop, _pool(number, stop - start), str(number)))
        taken = {index for place in results for index in range(place.start, place.stop)}
        end = 0
        for sentence in split_sentences(text):
            start = text.index(sentence, end)
            end = start + len(sentence)
            for run in name_runs(sentence, frozenset(), self._lower):
                # The capital of a sentence's first word alone says nothing.
                if run[0].start() or len(run) > 1 or _bare(run[0]).casefold() in self._inner:
                    results += [
                        _Place(start + first, start + last, "names", sentence[first:last].casefold())
                        for first, last in self._rare(run)
                        if not taken.intersection(range(start + first, start + last))
                    ]
        return sorted(results)


def _bare(word: re.Match[str]) -> str:
    """Return a word without a possessive s."""
    return word[0].removesuffix("\u2019s").removesuffix("'s")


def _pool(number: Decimal, digits: int) -> str:
    """Return the kind of a number that is written with so many digits."""
    if digits == 4 and number == number.to_integral() and 1000 <= number < 2100:
        return "years"
    return "small" if number < 100 else "middle" if number < 1000 else "large"


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with each slot replaced by its value."""
    return _SLOT.sub(lambda slot: values.get(slot[0], ""), _PARTED.sub(r"\1", text))


def _without_slots(text: str) -> str:
    """Return a text without letters that stand for values, which a page could forge."""
    return _SLOT.sub("", text)


def _opens(text: str, place: int) -> bool:
    """Whether the sign at a place is a straight quotation mark before a word."""
    return text[place] in "\"'" and not text[:place][-1:].strip()


NO_SLOTS = ValueSlots("", (), known=bool)  # for a vocabulary without slots


@dataclass(frozen=True)
class SlotDraws:
    """Redraws the slots of examples within their pools in each epoch, so that none is learned by heart; the token ids
    of all pools follow each other."""

    pools: Sequence[Sequence[int]]  # token ids of each kind of slots
    seed: int

    def __call__(self, rows: pa.Table, epoch: int, shard: int) -> pa.Table:
        """Return the rows of a shard with the slots of an epoch."""
        rng = np.random.default_rng((self.seed, epoch, shard))
        first = self.pools[0][0]
        drawn = np.concatenate(
            [np.argsort(rng.random((len(rows), len(pool))), axis=1) + pool[0] for pool in self.pools], axis=1
        )
        for name in ("title", "source", "target"):
            column = rows.column(name).combine_chunks()
            lists, row_of = column, np.arange(len(column))
            nesting = []
            while pa.types.is_list(lists.type):
                offsets = lists.offsets.to_numpy() - lists.offsets[0].as_py()
                row_of = np.repeat(row_of, np.diff(offsets))
                nesting.append(offsets)
                lists = lists.flatten()
            ids = lists.to_numpy(zero_copy_only=False).copy()
            places = np.flatnonzero(ids >= first)
            ids[places] = drawn[row_of[places], ids[places] - first]
            array = pa.array(ids, lists.type)
            for offsets in reversed(nesting):
                array = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), array)
            rows = rows.set_column(rows.column_names.index(name), name, array.cast(column.type))
        return rows
