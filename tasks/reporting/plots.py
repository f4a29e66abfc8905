"""The report's pictures, as PNG bytes: with white background, so that they are legible on light and on dark pages.
Equal numbers give equal bytes: nothing depends on the time, the screen or pyplot's state."""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from PIL import Image

COLORS = ("#2b6cb0", "#c05621", "#4a5568", "#2f855a", "#6b46c1", "#b7791f")
INK, _GRID = "#2d3748", "#e2e8f0"
_BINS = 40
_PALETTE = 64  # colours of a picture
_MARGIN = 0.08  # inches


def histogram(values: NDArray[Any], label: str, *, of: str, logarithmic: bool = False) -> bytes:
    """Draw a distribution. There is at least one value; of whole numbers, each bar spans equally many. `of` says what
    is counted, in the plural. A `logarithmic` axis of counts is for values that are nearly always the same; otherwise
    the largest 1 % are left out, because they would squeeze all others into one bar."""
    top = float(values.max()) if logarithmic else float(np.quantile(values, 0.99))
    if np.issubdtype(values.dtype, np.integer):
        width = max(1, math.ceil((top + 1) / _BINS))
        edges = (np.arange(0, top + 1 + width, width) - 0.5).tolist()
    else:
        edges = np.linspace(0, max(top, 1e-9), _BINS + 1).tolist()

    def panel(axes: Axes) -> None:
        axes.hist(values, bins=edges, color=COLORS[0])
        if logarithmic:
            axes.set_yscale("log")
        axes.set_xlabel(label)
        axes.set_ylabel(of)

    return draw(panel)


def boxes(groups: Mapping[str, NDArray[Any]], label: str) -> bytes:
    """Draw the middle half of each group as a box with its median, and a line from the 5th to the 95th percentile."""

    def panel(axes: Axes) -> None:
        heights = np.arange(len(groups))[::-1]
        low, first, median, third, high = np.array(
            [np.quantile(g, [0.05, 0.25, 0.5, 0.75, 0.95]) for g in groups.values()]
        ).T
        axes.hlines(heights, low, high, color=INK, lw=1.2)
        axes.barh(heights, third - first, left=first, height=0.5, color=COLORS[0])
        axes.vlines(median, heights - 0.25, heights + 0.25, color="white", lw=2)
        axes.set_yticks(heights, list(groups))
        axes.set_xlim(left=0)
        axes.set_xlabel(label)
        axes.grid(axis="y", visible=False)

    return draw(panel, height=0.9 + 0.36 * len(groups))


def bars(values: Mapping[str, tuple[float, float, float]], label: str) -> bytes:
    """Draw systems as horizontal bars with their intervals: name -> (mean, low, high), the first on top."""

    def panel(axes: Axes) -> None:
        names = list(values)[::-1]
        means = np.array([values[name][0] for name in names])
        low, high = (np.array([values[name][end] for name in names]) for end in (1, 2))
        errors = np.stack([means - low, high - means]).clip(min=0)
        axes.barh(names, means, height=0.6, xerr=errors, color=COLORS[0], ecolor=INK, capsize=3)
        axes.set_xlabel(label)
        axes.grid(axis="y", visible=False)

    return draw(panel, height=0.9 + 0.36 * len(values))


def differences(values: Sequence[float], label: str) -> bytes:
    """Draw ascending paired differences of articles, at least one, as a filled line, gains and losses apart."""

    def panel(axes: Axes) -> None:
        edges = np.arange(len(values) + 1) + 0.5
        for sign, color in ((1, COLORS[0]), (-1, COLORS[1])):
            axes.stairs(np.maximum(sign * np.asarray(values), 0) * sign, edges, fill=True, color=color)
        axes.axhline(0, color=INK, lw=0.8)
        axes.set_xlim(0.5, len(values) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("test articles, by difference (number)")
        axes.set_ylabel(label)

    return draw(panel)


def draw(*panels: Callable[[Axes], None], width: float = 5.4, height: float = 3.2) -> bytes:
    """Draw panels side by side; sizes in inches."""
    figure = Figure(figsize=(width, height), dpi=120, layout=ConstrainedLayoutEngine(h_pad=_MARGIN, w_pad=_MARGIN))
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False).flat, panels, strict=True):
        axes.grid(color=_GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        panel(axes)
    return to_png(figure)


def to_png(figure: Figure) -> bytes:
    """Return a figure as the bytes of a PNG."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    # A picture of lines has few colours: with a palette it has a third of the size, which is limited for artifacts.
    image = (
        Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(_PALETTE, dither=Image.Dither.NONE)
    )
    buffer = io.BytesIO()
    image.save(buffer, format="png", optimize=True)
    return buffer.getvalue()
