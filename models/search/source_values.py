"""Restrict a search to the names and numbers of its source.

`Pieces` says what the pieces of a vocabulary spell and may belong to. What a value is, and whether the source has it,
is said by `models.values`, as in the metrics. Two things hold:

* A word may be left, and a summary may end, only where the source has every value written so far. So what a search
  finishes has no value that its source lacks.
* Values are written along a trie of those of the source, so that no hypothesis ends in a dead end. The trie has runs of
  words with a capital or a digit, or that spell a number, and the ends and middles of such runs. "Marta Homansson"
  cannot become "Marta Thobilund" or "Homanson". A word that only opens a sentence may have a capital if it may open any
  sentence, or if the source has it in lower case. It is written to its end ("The" cannot become "Theodora").

Text in a script without capitals has no values here and is not restricted. Slots are read as what they stand for: a
source of "130 minutes" has no "130 million".

Shapes: b articles still searched, K hypotheses an article, t tokens so far, V vocabulary."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, groupby
from typing import NamedTuple

import torch
from torch import Tensor

from models.layers.paragraphs import SourceBatch
from models.search.step import Hypotheses
from models.sentences import BYTE_PIECE, SPACE_MARK, split_sentences
from models.value_slots import SLOTS, fill
from models.values import OPENERS, PARTICLES, ValueIndex, is_number_word, may_continue_number, missing
from models.vocabulary import Vocabulary

_SLOTS = frozenset(SLOTS)


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
        self._following: dict[str, list[int]] = {}  # letters -> the pieces that continue with them
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
        return [self.spell(text) for marked, text in groupby(tokens, self.marks.__contains__) if not marked]

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
    """Whether a word in small letters is within a value: "Anna de Vries", "two hundred and six"."""
    return word in PARTICLES or (word == "and" and is_number_word(before) and is_number_word(after))


def _is_open(word: str) -> bool:
    """Whether a word is of a number that the next word may continue."""
    return word[-1:].isalnum() and (
        any(c.isnumeric() or c in _SLOTS for c in word) or is_number_word(word) or word == "and"
    )


def _raw(piece: str) -> str:
    """Return what a piece writes, its space included; bytes of unfinished characters as lone surrogates."""
    spelled = BYTE_PIECE.sub(lambda byte: chr(code) if (code := int(byte[1], 16)) < 128 else chr(0xDC00 + code), piece)
    return spelled.replace(SPACE_MARK, " ")


_IN_NUMBERS = frozenset(".,:")
_OPENING = " \"'“‘«(["  # may precede the first word of a sentence
_UNITS = frozenset({"percent", "cent"})  # words that change a number before them, as scales such as "millions" do


@dataclass
class Node:
    """A node of the trie: a position in a run of value words."""

    children: dict[int, "Node"] = field(default_factory=dict)  # piece id -> the node after it
    ends_word: bool = False  # whether a summary may leave the run here


class _State(NamedTuple):
    """The state of a hypothesis."""

    nodes: tuple[Node, ...] = ()  # the places in runs of the source, none outside of all
    bound: bool = False  # whether a piece of a value was written, so that only the run may continue or end
    opening: str | None = None  # the letters so far of a word that opens a sentence, in lower case, or None
    blank: bool = True  # whether the word so far has no letter and no digit
    parted: bool = True  # whether punctuation parts it from the next word
    # whether a sentence begins with the next word, and with a letter written onto this word
    opens: tuple[bool, bool] = (True, True)
    start: int = 0  # index of the first token of the sentence


class _SourceOfValues:
    """The values of one source. `pieces`: of the vocabulary; `texts`: the tokens of its title and paragraphs, those
    that were cut without what the cut left unfinished; `slots`: what its slots stand for."""

    def __init__(self, pieces: Pieces, texts: Sequence[Sequence[int]], slots: Mapping[str, str]) -> None:
        self._spelled = pieces.filled(slots)
        self.evidence = ValueIndex(fill(text, slots) for text in chain.from_iterable(map(pieces.texts, texts)))
        self.root = _trie(pieces, texts)
        self.openers = OPENERS | self.evidence.lower
        self.beginnings = frozenset(word[:length] for word in self.openers for length in range(1, len(word) + 1))
        self.capitals = {
            begins: [id_ for text, ids in pieces.capitals[begins].items() if text in self.beginnings for id_ in ids]
            for begins in (True, False)
        }
        self.starts = {
            begins: [token for token in self.root.children if pieces.begins[token] == begins]
            for begins in (True, False)
        }
        self.states: dict[tuple[int, ...], _State] = {}
        self.masks: dict[tuple[object, ...], Tensor] = {}

    def spell(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens with slots replaced by their values."""
        return joined(self._spelled[token] for token in tokens)


class SourceValues:
    """Which tokens may come next in summaries of a batch of articles. `pieces`: of the vocabulary. `source`: the batch.
    `may_be_cut`: whether the end of a paragraph may be cut off, given its number of tokens and that of all together
    (`Layout.may_be_cut`). `slots`: what the slots of each article stand for (`ValueSlots.values`)."""

    def __init__(
        self,
        pieces: Pieces,
        source: SourceBatch,
        may_be_cut: Callable[[int, int], bool],
        slots: Sequence[Mapping[str, str]],
    ) -> None:
        """Make the trie of each article of a batch."""
        self.pieces = pieces
        self._articles = []
        for paragraphs, title, own in zip(source.tokens.tolist(), source.title.tolist(), slots, strict=True):
            texts = [[token for token in tokens if token != source.pad] for tokens in paragraphs]
            together = sum(map(len, texts))
            read = [pieces.uncut(tokens) if may_be_cut(len(tokens), together) else tokens for tokens in texts]
            texts = [*read, [token for token in title if token != source.pad]]
            self._articles.append(_SourceOfValues(pieces, texts, own))

    def forbidden(self, alive: Hypotheses) -> Tensor:
        """Return [b, K, V] bool, True for tokens that may not come next."""
        rows = [
            [self._allowed(self._articles[article], tuple(tokens)) for tokens in hypotheses]
            for article, hypotheses in zip(alive.articles.tolist(), alive.tokens.tolist(), strict=True)
        ]
        return ~torch.stack([torch.stack(row) for row in rows]).to(alive.tokens.device)

    def finished(self, article: int, tokens: Sequence[int]) -> int:
        """Return how many of the tokens of a summary to keep so that it ends where it may: all of them, unless the
        search was over in the middle of a value."""
        own = self._articles[article]
        lengths = range(len(tokens), 0, -1)
        return next((length for length in lengths if self._may_leave(own, tuple(tokens[:length]))), 0)

    def _state(self, article: _SourceOfValues, tokens: tuple[int, ...]) -> _State:
        if not tokens:
            return _State()
        state = article.states.get(tokens)
        if state is None:
            before = self._state(article, tokens[:-1])
            state = article.states[tokens] = self._step(article, before, tokens)
        return state

    def _step(self, article: _SourceOfValues, state: _State, tokens: tuple[int, ...]) -> _State:
        token, pieces = tokens[-1], self.pieces
        begins, text, is_word = pieces.begins[token], pieces.text[token], pieces.is_word[token]
        fresh = begins or state.blank
        start = len(tokens) - 1 if begins and state.opens[0] else state.start
        nodes = [node.children[token] for node in state.nodes if token in node.children]
        bound = bool(nodes) and state.bound
        may_start = fresh and is_word and (not state.bound or state.parted or state.opening in article.openers)
        if may_start and token in article.root.children:
            nodes.append(article.root.children[token])
        bound = bound or (bool(nodes) and pieces.is_value[token])
        opening = None
        if not fresh and state.opening is not None:
            opening = state.opening + text
        elif fresh and state.opens[not begins] and text[:1].isupper():
            opening = text.lower()
        opens, parted = (False, False), text == "" or not text[-1].isalnum()
        if parted:
            sentence = pieces.spell(tokens[start:])
            opens = _begins(f"{sentence} X"), _begins(f"{sentence}X")
        return _State(
            nodes=tuple(nodes),
            bound=bound,
            opening=opening if opening in article.beginnings else None,
            blank=fresh and not is_word,
            parted=parted,
            opens=opens,
            start=start,
        )

    def _may_leave(self, article: _SourceOfValues, tokens: tuple[int, ...]) -> bool:
        """Return whether a word, or the summary, may end after these tokens."""
        state = self._state(article, tokens)
        if state.bound or state.opening is not None:
            ends_value = state.bound and any(node.ends_word for node in state.nodes)
            if not ends_value and state.opening not in article.openers:
                return False
        sentence = article.spell(tokens[state.start :])
        # Such a word changes no value before it, and it began where all of them were in the source.
        plain = not state.nodes and state.opening is None and _is_plain(sentence.rpartition(" ")[2])
        return plain or not missing(sentence, article.evidence)

    def _allowed(self, article: _SourceOfValues, tokens: tuple[int, ...]) -> Tensor:
        """Return [V] bool, True for tokens that may come next."""
        state, leave = self._state(article, tokens), self._may_leave(article, tokens)
        key = (*map(id, state.nodes), *state[1:-1], leave)
        if key not in article.masks:
            article.masks[key] = self._mask(article, state, leave)
        return article.masks[key]

    def _mask(self, article: _SourceOfValues, state: _State, leave: bool) -> Tensor:
        pieces = self.pieces
        if state.bound or state.opening is not None:
            mask = pieces.leaving.clone() if leave else torch.zeros(pieces.size, dtype=torch.bool)
        else:
            mask = pieces.outside.clone() if leave else pieces.outside & pieces.within
        if state.opening is not None:
            length = len(state.opening)
            rests = [word[length:] for word in article.openers if word.startswith(state.opening)]
            mask[pieces.following(rests)] = True
        # A value next to another one would be one with it.
        if leave and (not state.bound or state.parted or state.opening in article.openers):
            mask[article.starts[True]] = True
            mask[article.capitals[True] if state.opens[0] else []] = True
        if state.blank:
            mask[article.starts[False]] = True
            mask[article.capitals[False] if state.opens[1] else []] = True
        for node in state.nodes:
            mask[list(node.children)] = True
        return mask


def _begins(text: str) -> bool:
    """Return whether the last letter of a text is the first of a sentence."""
    return split_sentences(text)[-1].lstrip(_OPENING) == text[-1]


def _is_plain(word: str) -> bool:
    """Return whether a word is not a value, and no word before it has another one with it."""
    small = word.isalpha() and word == word.lower()
    return small and word not in _UNITS and not is_number_word(word.removesuffix("s"))


def _trie(pieces: Pieces, texts: Collection[Sequence[int]]) -> Node:
    root = Node()
    for tokens in texts:
        for run in _runs(pieces, tokens):
            for start in range(len(run)):
                node = root
                first = [token for token in run[start] if pieces.text[token]]  # a search begins after a space alone
                for word in (first, *run[start + 1 :]):
                    for index, token in enumerate(word):
                        node = node.children.setdefault(token, Node())
                        node.ends_word |= _may_end(pieces, word, index)
    return root


def _runs(pieces: Pieces, tokens: Sequence[int]) -> list[list[list[int]]]:
    """Return the runs of value words, each word as its pieces from its space, or the first letter or digit, to the last
    letter or digit."""
    runs: list[list[list[int]]] = [[]]
    words = pieces.words(tokens)
    spelled = [pieces.spell(word).strip() for word in words]
    for number, word in enumerate(words):
        places = [index for index, token in enumerate(word) if pieces.is_word[token]]
        blank = sum(not pieces.text[token] for token in word[:1])
        core = [*word[:blank], *word[places[0] : places[-1] + 1]] if places else []
        if not (any(pieces.is_value[token] for token in core) or is_number_word(pieces.spell(core).strip())):
            around = spelled[number - 1 : number + 2]
            if not (runs[-1] and len(around) == 3 and joins(*around)):
                runs.append([])
                continue
        if not spelled[number][0].isalnum():  # a bracket before it
            runs.append([])
        runs[-1].append(core)
        if not spelled[number][-1].isalnum():  # a comma after it
            runs.append([])
    return [run for run in runs if run]


def _may_end(pieces: Pieces, word: list[int], index: int) -> bool:
    """Return whether a summary may leave a word after this piece: at its end, or before punctuation within it."""
    rest = word[index + 1 :]
    if not rest:
        return True
    if pieces.is_word[rest[0]] or not pieces.is_word[word[index]]:
        return False
    behind = pieces.spell(rest)
    return not (behind[0] in _IN_NUMBERS and behind[1:2].isdigit())
