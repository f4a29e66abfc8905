"""Restrict a search to the names and numbers of its source.

A value is a run of words that begin with a capital or contain a digit. A summary may contain a run, or the end or the
middle of one, only as it occurs in its article: "Marta Homansson" cannot become "Marta Thobilund" or "Homanson". The
runs of an article form a trie over pieces; a hypothesis is either outside of all values or at a node of the trie.

Shapes: b articles still searched, K hypotheses an article, t tokens so far, V vocabulary.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import torch
from torch import Tensor

from models.contract import SourceBatch
from models.search.hypotheses import Hypotheses
from models.vocabulary import Vocabulary

_SPACE = "\u2581"  # how SentencePiece marks the beginning of a word
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")  # how pieces spell parts of characters
_SENTENCE_ENDS = frozenset(".!?")
_IN_NUMBERS = frozenset(".,")
_INFLECTED = ("ed", "ing")  # "Founded by ..." opens a sentence, although the vocabulary may have no "founded"


@dataclass
class Node:
    """A node of the trie: a position in a run of value words.

    Attributes:
        children: piece id -> the node after it.
        ends_word: whether a summary may leave the run here.
    """

    children: dict[int, "Node"] = field(default_factory=dict)
    ends_word: bool = False


class Pieces:
    """Properties of a vocabulary's pieces that decide whether they belong to a value.

    Args:
        pieces: the V pieces in order of their ids.
        marks: ids without text (padding, begin, end); None counts for nothing.
    """

    def __init__(self, pieces: Sequence[str], marks: Collection[int | None]) -> None:
        spellings = set(pieces)
        self.size = len(pieces)
        self.begins = [piece.startswith(_SPACE) for piece in pieces]
        self.text = ["" if id_ in marks else _text(piece) for id_, piece in enumerate(pieces)]
        self.is_word = [any(c.isalnum() for c in text) for text in self.text]
        self.is_value = [any(c.isupper() or c.isdigit() for c in text) for text in self.text]
        self.ends_sentence = [text[-1:] in _SENTENCE_ENDS and text != "" for text in self.text]
        self.outside = ~torch.tensor(self.is_value)
        # After the last piece of a value a new word or punctuation must follow: "Tavil" must not become "Tavilen".
        leaves = [begins or not word for begins, word in zip(self.begins, self.is_word, strict=True)]
        self.leaving = self.outside & torch.tensor(leaves)
        # Words that have a capital only because they begin a sentence.
        self.openers = torch.tensor(
            [
                piece.startswith(_SPACE)
                and text[:1].isupper()
                and not any(c.isdigit() for c in text)
                and (piece.lower() in spellings or text.endswith(_INFLECTED))
                for piece, text in zip(pieces, self.text, strict=True)
            ]
        )


@lru_cache(maxsize=2)
def value_pieces(vocabulary: Vocabulary) -> Pieces:
    """Return the pieces of a vocabulary with their properties."""
    return Pieces(vocabulary.pieces(range(vocabulary.size)), vocabulary.specials.marks | {vocabulary.unk})


def _text(piece: str) -> str:
    """Return the text of a piece; a byte of a non-ASCII character counts as a capital, so that it is only copied."""
    spelled = _BYTE.sub(lambda byte: chr(code) if (code := int(byte[1], 16)) < 128 else "\u00c9", piece)
    return spelled.removeprefix(_SPACE)


class SourceValues:
    """Which tokens may come next in summaries of a batch of articles."""

    def __init__(self, pieces: Pieces, source: SourceBatch) -> None:
        """Make the trie of each article of a batch."""
        self.pieces = pieces
        self._roots = [self._trie(article, source.pad) for article in source.tokens.tolist()]
        self._states: dict[tuple[int, tuple[int, ...]], tuple[Node | None, bool]] = {}
        self._masks: dict[tuple[int, int, bool], Tensor] = {}

    def forbidden(self, alive: Hypotheses) -> Tensor:
        """Return [b, K, V] bool, True for tokens that may not come next."""
        rows = [
            [self._allowed(article, *self._state(article, tuple(tokens))) for tokens in hypotheses]
            for article, hypotheses in zip(alive.articles.tolist(), alive.tokens.tolist(), strict=True)
        ]
        return ~torch.stack([torch.stack(row) for row in rows]).to(alive.tokens.device)

    def _trie(self, paragraphs: list[list[int]], pad: int) -> Node:
        root = Node()
        for tokens in paragraphs:
            for run in self._runs([token for token in tokens if token != pad]):
                for start in range(len(run)):
                    self._add(root, run[start:])
        return root

    def _runs(self, tokens: list[int]) -> list[list[list[int]]]:
        """Return the runs of value words, each word as its pieces from the first letter or digit to the last."""
        runs: list[list[list[int]]] = [[]]
        for word in self._words(tokens):
            spelling = [index for index, token in enumerate(word) if self.pieces.is_word[token]]
            core = word[spelling[0] : spelling[-1] + 1] if spelling else []
            if not any(self.pieces.is_value[token] for token in core):
                runs.append([])
                continue
            if len(core) < len(word) and word[0] != core[0]:  # a bracket before it
                runs.append([])
            runs[-1].append(core)
            if word[-1] != core[-1]:  # a comma after it
                runs.append([])
        return [run for run in runs if run]

    def _words(self, tokens: list[int]) -> list[list[int]]:
        words: list[list[int]] = []
        for token in tokens:
            if self.pieces.begins[token] or not words:
                words.append([])
            words[-1].append(token)
        return words

    def _add(self, node: Node, words: list[list[int]]) -> None:
        for word in words:
            for index, token in enumerate(word):
                node = node.children.setdefault(token, Node())
                node.ends_word |= self._may_end(word, index)

    def _may_end(self, word: list[int], index: int) -> bool:
        """Return whether a summary may leave a word after this piece: at its end, or before punctuation within it."""
        rest = word[index + 1 :]
        if not rest:
            return True
        if self.pieces.is_word[rest[0]] or not self.pieces.is_word[word[index]]:
            return False
        behind = "".join(self.pieces.text[token] for token in rest)
        return not (behind[0] in _IN_NUMBERS and behind[1:2].isdigit())

    def _state(self, article: int, tokens: tuple[int, ...]) -> tuple[Node | None, bool]:
        """Return the node of a hypothesis (None outside of all values) and whether a sentence begins next."""
        if not tokens:
            return None, True
        state = self._states.get((article, tokens))
        if state is None:
            node, opens = self._state(article, tokens[:-1])
            state = self._states[article, tokens] = self._step(article, node, opens, tokens[-1])
        return state

    def _step(self, article: int, node: Node | None, opens: bool, token: int) -> tuple[Node | None, bool]:
        child = None if node is None else node.children.get(token)
        if child is None and self.pieces.is_value[token] and not (opens and self.pieces.openers[token]):
            child = self._roots[article].children.get(token)
        return child, self.pieces.ends_sentence[token]

    def _allowed(self, article: int, node: Node | None, opens: bool) -> Tensor:
        """Return [V] bool, True for tokens that may come next."""
        key = (article, id(node), opens)
        if key not in self._masks:
            if node is not None and not node.ends_word:
                mask = torch.zeros(self.pieces.size, dtype=torch.bool)
            else:
                mask = (self.pieces.outside if node is None else self.pieces.leaving).clone()
                if node is None:
                    mask[list(self._roots[article].children)] = True
                if opens:
                    mask |= self.pieces.openers
            if node is not None:
                mask[list(node.children)] = True
            self._masks[key] = mask
        return self._masks[key]
