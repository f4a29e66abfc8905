"""The report's pictures, as PNG bytes: with white background, so that they are legible on light and on dark pages.
Equal numbers give equal bytes: nothing depends on the time, the screen or pyplot's state."""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from PIL import Image

from tasks.reporting.curves import Curve
from tasks.reporting.samples import Graph

COLORS = ("#2b6cb0", "#c05621", "#4a5568", "#2f855a", "#6b46c1", "#b7791f")
INK, _GRID = "#2d3748", "#e2e8f0"
_DOTS = 40  # in a curve of fewer points, each point is marked
_BINS = 40
_PALETTE = 64  # colours of a picture
_MARGIN = 0.08  # inches


def curve_picture(curve: Curve) -> bytes:
    """Draw a training curve, with a legend where it has several lines."""

    def panel(axes: Axes) -> None:
        for (name, points), color in zip(curve.series.items(), COLORS, strict=False):
            if points:
                marker = "o" if len(points) < _DOTS else None
                axes.plot(*zip(*points, strict=True), color=color, marker=marker, markersize=3, lw=1.4, label=name)
        axes.set_xlabel(curve.over)
        axes.set_ylabel(curve.label)
        if max(step for points in curve.series.values() for step, _ in points) >= 10_000:
            axes.xaxis.set_major_formatter(lambda step, _: f"{step / 1000:g}k")
        if len(curve.series) > 1:
            axes.legend(fontsize=8, frameon=False)

    return _draw(panel)


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

    return _draw(panel)


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

    return _draw(panel, height=0.9 + 0.36 * len(groups))


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

    return _draw(panel, height=0.9 + 0.36 * len(values))


def differences(values: Sequence[float], label: str) -> bytes:
    """Draw paired differences of articles as a filled line: gains in one colour, losses in another. There is at least
    one value, and they ascend."""

    def panel(axes: Axes) -> None:
        edges = np.arange(len(values) + 1) + 0.5
        for sign, color in ((1, COLORS[0]), (-1, COLORS[1])):
            axes.stairs(np.maximum(sign * np.asarray(values), 0) * sign, edges, fill=True, color=color)
        axes.axhline(0, color=INK, lw=0.8)
        axes.set_xlim(0.5, len(values) + 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("test articles, by difference (number)")
        axes.set_ylabel(label)

    return _draw(panel)


def graph_picture(graph: Graph) -> bytes:
    """Draw the similarity graph and the discourse graph side by side, paragraphs on a circle in order of rank."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(graph.nodes) / max(graph.nodes, 1)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def circle(title: str, edges: Sequence[tuple[int, int, float]]) -> Callable[[Axes], None]:
        def panel(axes: Axes) -> None:
            top = max((weight for _, _, weight in edges), default=1.0) or 1.0
            lines = [points[[i, j]] for i, j, _ in edges]
            colors = [(COLORS[0], 0.15 + 0.75 * max(weight, 0.0) / top) for _, _, weight in edges]
            if lines:
                axes.add_collection(LineCollection(lines, colors=colors, linewidths=1.0))
            axes.scatter(points[:, 0], points[:, 1], s=130, color="white", edgecolor=INK, linewidth=0.8, zorder=2)
            for rank, (x, y) in enumerate(points):
                axes.text(x, y, str(rank + 1), fontsize=6, ha="center", va="center", color=INK, zorder=3)
            axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.4), aspect="equal")
            axes.text(0, 1.25, f"{title}: {len(edges):,} edges", fontsize=10, ha="center")
            axes.axis("off")

        return panel

    return _draw(circle("similarity", graph.similarity), circle("discourse", graph.discourse), width=7.2, height=4.0)


def _draw(*panels: Callable[[Axes], None], width: float = 5.4, height: float = 3.2) -> bytes:
    return to_png(draw_panels(panels, width=width, height=height))


def draw_panels(panels: Sequence[Callable[[Axes], None]], *, width: float, height: float) -> Figure:
    """Return a figure of panels side by side; sizes in inches."""
    figure = Figure(figsize=(width, height), dpi=120, layout=ConstrainedLayoutEngine(h_pad=_MARGIN, w_pad=_MARGIN))
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False).flat, panels, strict=True):
        axes.grid(color=_GRID, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        panel(axes)
    return figure


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
