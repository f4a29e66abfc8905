"""The attention of a summarizer while it wrote, by token, paragraph and sentence.

Shapes: T tokens of a summary, P ranked paragraphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from models.sentences import SPACE_MARK, sentence_pieces
from tasks.evaluation.citations import CitedSentence

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Span:
    """The tokens of a sentence."""

    sentence: str
    start: int  # index of its first token
    stop: int  # index after its last token; equal to `start` for a sentence in which no token ends
    ranks: Sequence[int] = ()  # 0-based ranks of the paragraphs that are cited for it


@dataclass(frozen=True)
class SummaryAttention:
    """The attention of one summary."""

    tokens: Sequence[str]  # [T] the pieces, in a readable form
    weights: Floats  # [T, P] of each token to each paragraph, 0-1
    hosts: Sequence[str]  # [P] host of each paragraph's page, or an empty string
    spans: Sequence[Span]


def lay_out(
    summary: str, tokens: Sequence[str], weights: Floats, urls: Sequence[str], cited: Sequence[CitedSentence]
) -> SummaryAttention | None:
    """Return the attention of a summary; None for a system without attention, or an empty summary. Of T tokens and P
    paragraphs, weights are [T, P] or empty; paragraphs beyond P were not read."""
    if not weights.size:
        return None
    hosts = [host_of(url) for url in urls[: weights.shape[1]]]
    hosts += [""] * (weights.shape[1] - len(hosts))
    sentence_spans = sentence_pieces(summary, tokens)
    spans = [
        Span(sentence, piece.start, piece.stop, citation.ranks)
        for (sentence, piece), citation in zip(sentence_spans, cited, strict=True)
    ]
    return SummaryAttention([readable(token) for token in tokens], weights, hosts, spans)


def readable(token: str) -> str:
    """Return a piece in a readable form: the beginning of a word unchanged, a continuation with a dot before it."""
    if token == SPACE_MARK:
        return "\u2423"
    begins = token.startswith(SPACE_MARK) or not token[:1].isalnum()
    return token.replace(SPACE_MARK, " ").strip() if begins else f"\u00b7{token.replace(SPACE_MARK, ' ')}"


def host_of(url: str) -> str:
    """Return the host of a URL; an empty string if it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
