"""The attention of a summarizer while it wrote, by token, paragraph and sentence; and a picture of it: how much
attention each page got, token by token. Shapes: T tokens of a summary, P ranked paragraphs.

This module computes the places of the picture's parts, and its hundreds of labels are plain texts: a layout engine
would measure each several times, and ticks take longer to make than to draw."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from models.sentences import SPACE_MARK, sentence_pieces
from tasks.evaluation.citations import CitedSentence
from tasks.reporting.blocks import clean
from tasks.reporting.plots import COLORS, INK, to_png

Floats = NDArray[np.float32]
_STRIP = 36  # tokens per strip, so that each is legible in a picture 700 pixels wide
_STRIPS = 5  # strips below each other; of a longer summary only the first tokens are drawn
_ROWS = 15  # paragraphs with a row of their own: those cited, and of the others those with most attention
_WIDTH, _ROW_INCHES, _LETTER_INCHES = 7.2, 0.185, 0.06  # a letter of 8 points, on average
_EDGE, _SCALE_INCHES = 0.25, 0.75  # around it with the names of the axes, and for the scale of colours on the right
_GAP_INCHES = 0.03  # between the name of a row and the row
_HOST, _TOKEN = 24, 13  # characters of each that are shown
_SHADES = colormaps["Blues"].resampled(12)  # few colours, which the eye can distinguish and the picture's palette keeps


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


def attention_picture(attention: SummaryAttention) -> bytes:
    """Draw paragraph attention over time: a column a token, a row a paragraph, a box a citation. Of many paragraphs,
    uncited ones with least attention share a row; of many tokens only the first are drawn (`drawn_tokens`)."""
    looked = attention.weights.mean(axis=0)
    cited = {rank for span in attention.spans for rank in span.ranks}
    order = sorted(range(len(looked)), key=lambda rank: (rank not in cited, -looked[rank], rank))
    kept = np.sort(order[:_ROWS])
    rows = attention.weights[:, kept].T
    # Of a long host the end, because it identifies the owner better than the beginning.
    hosts = [host if len(host) <= _HOST else f"…{host[1 - _HOST :]}" for host in attention.hosts]
    labels = [f"{rank + 1}  {hosts[rank]}" for rank in kept]
    if others := attention.weights.shape[1] - len(kept):
        rows = np.vstack([rows, attention.weights.sum(axis=1) - rows.sum(axis=0)])
        labels.append(f"{others} others together")
    row_of = {int(rank): row for row, rank in enumerate(kept)}
    top = max(float(rows.max()), 1e-9)
    drawn = drawn_tokens(attention)
    width = math.ceil(drawn / math.ceil(drawn / _STRIP))  # strips of about one length
    starts = range(0, drawn, width)
    # Names from outside: a character that the font lacks is replaced.
    names = [_shown(label) for label in labels]
    heads = (token if len(token) <= _TOKEN else f"{token[: _TOKEN - 1]}…" for token in attention.tokens[:drawn])
    tokens = list(map(_shown, heads))

    def strip(axes: Axes, start: int) -> None:
        stop = min(start + width, drawn)
        axes.imshow(
            rows[:, start:stop],
            cmap=_SHADES,
            vmin=0,
            vmax=top,
            aspect="auto",
            extent=(-0.5, stop - start - 0.5, len(rows) - 0.5, -0.5),
        )
        for span in attention.spans:
            left, right = max(span.start, start) - start, min(span.stop, stop) - start
            for rank in span.ranks:
                if left >= right or rank not in row_of:
                    continue
                corner = (left - 0.5, row_of[rank] - 0.5)
                axes.add_patch(Rectangle(corner, right - left, 1, fill=False, edgecolor=COLORS[1], lw=1.3))
            if start < span.stop < stop:
                axes.axvline(span.stop - start - 0.5, color=INK, lw=0.8, ls=":")
        # Texts rather than ticks, each of which is five objects; a dollar sign in a name does not begin a formula.
        axes.set_axis_off()
        for column, token in enumerate(tokens[start:stop]):
            axes.text(column, len(rows) - 0.4, token, rotation=90, ha="center", va="top", size=8, parse_math=False)
        for row, name in enumerate(names):
            axes.text(-0.5 - gap, row, name, ha="right", va="center", size=8, parse_math=False)
        axes.set_xlim(-0.5, width - 0.5)

    left = _EDGE + _LETTER_INCHES * max(map(len, names))
    gap = _GAP_INCHES * width / (_WIDTH - left - _SCALE_INCHES)  # in columns, of which a short summary has wide ones
    deep, below = _ROW_INCHES * len(rows), _LETTER_INCHES * max(map(len, tokens)) + 0.15  # of a strip, of its tokens
    height = len(starts) * (deep + below) + _EDGE
    figure = Figure(figsize=(_WIDTH, height), dpi=120)
    for number, start in enumerate(starts):
        bottom = height - number * (deep + below) - deep - 0.05
        place = (left / _WIDTH, bottom / height, (_WIDTH - left - _SCALE_INCHES) / _WIDTH, deep / height)
        strip(figure.add_axes(place), start)
    figure.supxlabel("tokens of the summary, in order", fontsize=8, y=0.06 / height, va="bottom")
    figure.supylabel("paragraph: rank and host", fontsize=8, x=0.06 / _WIDTH, ha="left")
    beside = figure.add_axes(((_WIDTH - 0.6) / _WIDTH, (height - deep - 0.05) / height, 0.12 / _WIDTH, deep / height))
    scale = figure.colorbar(figure.axes[0].images[0], cax=beside)
    scale.set_label("share of attention (0-1)", fontsize=8)
    scale.ax.tick_params(labelsize=6)
    return to_png(figure)


def drawn_tokens(attention: SummaryAttention) -> int:
    """Return how many tokens of a summary its picture shows."""
    return min(len(attention.weights), _STRIP * _STRIPS)


def _shown(text: str) -> str:
    """Return a text with each character that the font lacks replaced by a sign."""
    return "".join(letter if ord(letter) in _letters() else "\u25a1" for letter in clean(text))


@cache
def _letters() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties())).get_charmap())
