"""A picture of paragraph attention over time: how much attention each page got, token by token. Where its parts stand
is computed here, and its hundreds of labels are plain texts: a layout engine would measure each several times, and
ticks take longer to make than to draw."""

import math
from functools import cache

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.patches import Rectangle

from tasks.reporting.attention import SummaryAttention
from tasks.reporting.blocks import clean
from tasks.reporting.plots import COLORS, INK, to_png

_STRIP = 36  # tokens per strip, so that each is legible in a picture 700 pixels wide
_STRIPS = 5  # strips below each other; of a longer summary only the first tokens are drawn
_ROWS = 15  # paragraphs with a row of their own: those cited, and of the others those with most attention
_WIDTH, _ROW_INCHES, _LETTER_INCHES = 7.2, 0.185, 0.06  # a letter of 8 points, on average
_EDGE, _SCALE_INCHES = 0.25, 0.75  # around it with the names of the axes, and for the scale of colours on the right
_GAP_INCHES = 0.03  # between the name of a row and the row
_HOST_CHARACTERS, _TOKEN_CHARACTERS = 24, 13
_SHADES = colormaps["Blues"].resampled(12)  # few colours, told apart by eye and kept by the picture's palette


def attention_picture(attention: SummaryAttention) -> bytes:
    """Draw paragraph attention over time: a column for each token, a row for each paragraph, a box for each citation.
    If there are many paragraphs, uncited ones with least attention share one row; of many tokens only the first are
    drawn (`drawn_tokens`)."""
    looked = attention.weights.mean(axis=0)
    cited = {rank for span in attention.spans for rank in span.ranks}
    order = sorted(range(len(looked)), key=lambda rank: (rank not in cited, -looked[rank], rank))
    kept = np.sort(order[:_ROWS])
    rows = attention.weights[:, kept].T
    labels = [f"{rank + 1}  {_tail(attention.hosts[rank], _HOST_CHARACTERS)}" for rank in kept]
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
    tokens = [_shown(_head(token, _TOKEN_CHARACTERS)) for token in attention.tokens[:drawn]]

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
        # Texts rather than ticks, each of which is five objects; a dollar sign in a name is no formula.
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


def _head(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _tail(text: str, most: int) -> str:
    """Return the end of a host name, because the end identifies its owner better than the beginning."""
    return text if len(text) <= most else f"…{text[1 - most :]}"


def _shown(text: str) -> str:
    """Return a text with each character that the font lacks replaced by a sign."""
    return "".join(letter if ord(letter) in _letters() else "\u25a1" for letter in clean(text))


@cache
def _letters() -> frozenset[int]:
    return frozenset(get_font(findfont(FontProperties())).get_charmap())
