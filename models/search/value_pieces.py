"""A vocabulary's pieces as a search for the values of a source sees them: what each spells and may belong to."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import torch

from models.value_slots import SLOTS
from models.values import PARTICLES, is_number_word, may_continue_number
from models.vocabulary import Vocabulary

_SLOTS = frozenset(SLOTS)
_SPACE = "\u2581"  # how SentencePiece marks the beginning of a word
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # how pieces spell parts of characters


class Pieces:
    """Properties of a vocabulary's pieces that decide whether they belong to a value. `pieces`: the V pieces in order
    of their ids; `marks`: ids without text (padding, begin, end); None counts for nothing."""

    def __init__(self, pieces: Sequence[str], marks: Collection[int | None]) -> None:
        self.size = len(pieces)
        self.marks = frozenset(mark for mark in marks if mark is not None)
        self._raw = ["" if id_ in marks else _raw(piece) for id_, piece in enumerate(pieces)]
        self.begins = [text.startswith(" ") for text in self._raw]
        # A byte of a character beyond ASCII counts as a capital, so that it is only copied.
        self.text = [re.sub("[\udc80-\udcff]", "\u00c9", text.removeprefix(" ")) for text in self._raw]
        self.is_word = [any(c.isalnum() for c in text) for text in self.text]
        self.is_value = [text in _SLOTS or any(c.isupper() or c.isnumeric() for c in text) for text in self.text]
        self.outside = ~torch.tensor(self.is_value)
        self.within = torch.tensor([not (b or id_ in self.marks) for id_, b in enumerate(self.begins)])
        # After the last piece of a value a new word or punctuation must follow: "Tavil" must not become "Tavilen".
        self.leaving = self.outside & torch.tensor([b or not w for b, w in zip(self.begins, self.is_word, strict=True)])
        # letters -> the pieces that write them as the first ones of a sentence, at a word's beginning and within it
        self.capitals: dict[bool, dict[str, list[int]]] = {True: {}, False: {}}
        self._following: dict[str, list[int]] = {}  # letters -> the pieces that go on with them
        for id_, text in enumerate(self.text):
            if text.isalpha() and text[1:] == text[1:].lower():
                if text[0].isupper():
                    self.capitals[self.begins[id_]].setdefault(text.lower(), []).append(id_)
                elif not self.begins[id_]:
                    self._following.setdefault(text, []).append(id_)

    def following(self, rests: Iterable[str]) -> list[int]:
        """Return the pieces that write the rest of a word, or the beginning of a rest."""
        beginnings = {rest[:length] for rest in rests for length in range(1, len(rest) + 1)}
        return [id_ for beginning in beginnings for id_ in self._following.get(beginning, ())]

    def spell(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens."""
        return joined(self._raw[token] for token in tokens)

    def filled(self, slots: Mapping[str, str]) -> list[str]:
        """Return what each piece writes of an article whose slots stand for these values, to be `joined`."""
        return [f" {slots[text]}" if text in slots else raw for text, raw in zip(self.text, self._raw, strict=True)]

    def words(self, tokens: Iterable[int]) -> list[list[int]]:
        """Return the tokens of each word with the punctuation around it."""
        words: list[list[int]] = []
        for token in tokens:
            if self.begins[token] or not words:
                words.append([])
            words[-1].append(token)
        return words

    def texts(self, tokens: Sequence[int]) -> list[str]:
        """Return the texts between marks, such as the title and the paragraph after it."""
        texts: list[list[int]] = [[]]
        for token in tokens:
            if token in self.marks:
                texts.append([])
            else:
                texts[-1].append(token)
        return [self.spell(text) for text in texts if text]

    def uncut(self, tokens: Sequence[int]) -> list[int]:
        """Return the tokens of a text that was cut, up to the last word of which the cut left nothing unfinished. The
        last word goes ("167" may be 1674), and with it a number that it may belong to ("526 mi": 526 million)."""
        words = self.words(tokens)
        spelled = [self.spell(word).strip() for word in words]
        last = len(words) - 1
        while last > 0 and may_continue_number(spelled[last]) and _is_open(spelled[last - 1]):
            last -= 1
        return [token for word in words[: max(last, 0)] for token in word]


@lru_cache(maxsize=2)
def value_pieces(vocabulary: Vocabulary) -> Pieces:
    """Return the pieces of a vocabulary with their properties."""
    return Pieces(vocabulary.pieces(range(vocabulary.size)), vocabulary.specials.marks | {vocabulary.unk})


def joined(texts: Iterable[str]) -> str:
    """Return the text that pieces write together."""
    return "".join(texts).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def joins(before: str, word: str, after: str) -> bool:
    """Whether a word in small letters stands within a value: "Anna de Vries", "two hundred and six"."""
    return word in PARTICLES or (word == "and" and is_number_word(before) and is_number_word(after))


def _is_open(word: str) -> bool:
    """Whether a word is of a number that the next word may go on with."""
    return word[-1:].isalnum() and (
        any(c.isnumeric() or c in _SLOTS for c in word) or is_number_word(word) or word == "and"
    )


def _raw(piece: str) -> str:
    """Return what a piece writes, its space included; bytes of unfinished characters as lone surrogates."""
    spelled = _BYTE.sub(lambda byte: chr(code) if (code := int(byte[1], 16)) < 128 else chr(0xDC00 + code), piece)
    return spelled.replace(_SPACE, " ")
