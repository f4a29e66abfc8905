"""What a summarizer looked at while it wrote: its attention laid out by token, paragraph and sentence.

Shapes: T tokens of a summary, P ranked paragraphs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from tasks.sentences import split_sentences

Floats = NDArray[np.float32]
_SPACE_MARK = "\u2581"
# Pieces whose text is not their name: marks leave no trace, a byte of a character may, an unknown word is one sign.
_MARK = re.compile(r"<(?:PAD|S|/S|T|P|Q)>")
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


@dataclass(frozen=True)
class Span:
    """The tokens of a sentence.

    Attributes:
        sentence: the sentence.
        start: place of its first token.
        stop: place after its last token; a sentence no token ends in has none.
        rank: 0-based rank of the paragraph its tokens looked at most, on average; None where it has no token.
        share: that paragraph's share of their attention, 0-1.
    """

    sentence: str
    start: int
    stop: int
    rank: int | None = None
    share: float = 0.0


@dataclass(frozen=True)
class Attention:
    """The attention of one summary.

    Attributes:
        tokens: [T] the pieces, as people read them.
        weights: [T, P] of each token to each paragraph, 0-1.
        hosts: [P] host of each paragraph's page, or an empty string.
        spans: its sentences.
    """

    tokens: Sequence[str]
    weights: Floats
    hosts: Sequence[str]
    spans: Sequence[Span]


def lay_out(summary: str, tokens: Sequence[str], weights: Floats, urls: Sequence[str]) -> Attention | None:
    """Return the attention of a summary; None for a system without any, or one that wrote nothing.

    Args:
        summary: the text.
        tokens: its T pieces.
        weights: [T, P], or empty.
        urls: page of each ranked paragraph; those beyond P were not read.
    """
    if not weights.size:
        return None
    hosts = [host_of(url) for url in urls[: weights.shape[1]]]
    hosts += [""] * (weights.shape[1] - len(hosts))
    return Attention([readable(token) for token in tokens], weights, hosts, list(spans(summary, tokens, weights)))


def spans(summary: str, tokens: Sequence[str], weights: Floats) -> Iterator[Span]:
    """Yield the sentences of a summary with their tokens and the paragraph those looked at most.

    A token belongs to the sentence its last character falls in, counting characters other than spaces.

    Args:
        summary: the text.
        tokens: its T pieces; together, with SentencePiece's space marks, they spell the summary.
        weights: [T, P] of each token to each paragraph, not empty.
    """
    ends = np.cumsum([spelled(token) for token in tokens])
    start = passed = 0
    for sentence in split_sentences(summary):
        passed += len("".join(sentence.split()))
        stop = int(np.searchsorted(ends, passed, side="right"))
        looked = weights[start:stop]
        if len(looked):
            shares = looked.mean(axis=0)
            top = int(shares.argmax())
            yield Span(sentence, start, stop, top, float(shares[top]))
        else:
            yield Span(sentence, start, stop)
        start = stop


def spelled(token: str) -> int:
    """Return how many characters of the text, spaces not counted, a SentencePiece piece stands for."""
    if _MARK.fullmatch(token):
        return 0
    if token == "<unk>":
        return 1  # decoded as one sign
    if byte := _BYTE.fullmatch(token):
        return int(int(byte[1], 16) & 0xC0 != 0x80)  # a character is counted at its first byte
    return len(token.replace(_SPACE_MARK, ""))


def readable(token: str) -> str:
    """Return a piece for people: the beginning of a word as it is, letters that go on with one after a dot."""
    if token == _SPACE_MARK:
        return "\u2423"
    begins = token.startswith(_SPACE_MARK) or not token[:1].isalnum()
    return token.replace(_SPACE_MARK, " ").strip() if begins else f"\u00b7{token.replace(_SPACE_MARK, ' ')}"


def host_of(url: str) -> str:
    """Return the host of a URL; an empty string where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
