"""The drawing of a graph of stages as SVG, which needs no network: rows from the sources down, boxes and curves.

The layers are those of Sugiyama et al. 1981. A stage is in the row below the last one that it reads, and an arrow that
passes a row has its own place there. The places of a row are ordered by the mean of their neighbours'."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

_WIDTH, _HEIGHT, _PASSING = 172, 30, 26  # of a box, and the width of the place of an arrow that passes, in pixels
_GAP, _STEP, _MARGIN = 14, 60, 12
_SWEEPS = 12
_STYLE = """
rect { fill: #fff; stroke: #14507d; stroke-width: 1.3 } .ground { fill: #fbfaf8; stroke: none }
.optional { stroke-dasharray: 5 4 } path { fill: none; stroke: #5b6570; stroke-width: 1.2 }
text { font: 13px system-ui, "DejaVu Sans", sans-serif; fill: #1d2329; text-anchor: middle }
marker path { fill: #5b6570; stroke: none }
@media (prefers-color-scheme: dark) {
  rect { fill: #1c2227; stroke: #8cc4ee } .ground { fill: #14181c } path { stroke: #a0abb5 }
  text { fill: #e5e8ea } marker path { fill: #a0abb5 }
}"""
Place = tuple[str, ...]  # a stage, or an arrow (from, to) that passes


@dataclass
class _Layers:
    """The places of each row, and what is above and below each place."""

    rows: list[list[Place]]
    above: dict[tuple[int, Place], list[Place]] = field(default_factory=dict)
    below: dict[tuple[int, Place], list[Place]] = field(default_factory=dict)

    def join(self, row: int, upper: Place, lower: Place) -> None:
        """Note a piece of an arrow from a row to the next one."""
        self.above.setdefault((row + 1, lower), []).append(upper)
        self.below.setdefault((row, upper), []).append(lower)


def draw_stages(reads: Mapping[str, Sequence[str]], optional: frozenset[str], label: str) -> str:
    """Return the SVG. `reads`: stage -> stages that it reads, in an order in which each comes after those; `optional`:
    stages with dashed borders; a stage whose name has a slash, and `reports`, get round corners."""
    layers = _layers(reads)
    _untangle(layers)
    places, width = _across(layers.rows)
    height = len(layers.rows) * _STEP - (_STEP - _HEIGHT) + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<title>{escape(label)}</title>",
        f"<style>{_STYLE}</style>",
        '<marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker>',
        f'<rect class="ground" width="{width}" height="{height}"/>',
    ]
    lines += [_arrow(read, stage, layers.rows, places) for stage, some in reads.items() for read in some]
    for row, names in enumerate(layers.rows):
        lines += [_box(name[0], places[row, name], row, optional) for name in names if len(name) == 1]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _layers(reads: Mapping[str, Sequence[str]]) -> _Layers:
    row_of: dict[str, int] = {}
    for stage, some in reads.items():
        row_of[stage] = 1 + max((row_of[read] for read in some), default=-1)
    layers = _Layers([[] for _ in range(1 + max(row_of.values()))])
    for stage, row in row_of.items():
        layers.rows[row].append((stage,))
    for stage, some in reads.items():
        for read in some:
            upper: Place = (read,)
            for row in range(row_of[read] + 1, row_of[stage]):
                layers.rows[row].append((read, stage))
                layers.join(row - 1, upper, (read, stage))
                upper = (read, stage)
            layers.join(row_of[stage] - 1, upper, (stage,))
    return layers


def _untangle(layers: _Layers) -> None:
    """Order the places of each row by the mean of their neighbours' places, downward and upward by turns."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        numbers = range(1, len(layers.rows)) if down else range(len(layers.rows) - 2, -1, -1)
        for row in numbers:
            others = _middles(layers.rows[row - 1 if down else row + 1])
            joined = layers.above if down else layers.below
            here = _middles(layers.rows[row])
            means = {
                name: sum(others[other] for other in near) / len(near)
                if (near := joined.get((row, name)))
                else here[name]
                for name in layers.rows[row]
            }
            layers.rows[row].sort(key=means.__getitem__)


def _middles(names: Sequence[Place]) -> dict[Place, float]:
    """Return how far each place of a row is from the row's middle."""
    x, middles = 0.0, {}
    for name in names:
        middles[name] = x + _wide(name) / 2
        x += _wide(name) + _GAP
    return {name: middle - (x - _GAP) / 2 for name, middle in middles.items()}


def _wide(name: Place) -> int:
    return _WIDTH if len(name) == 1 else _PASSING


def _across(rows: Sequence[Sequence[Place]]) -> tuple[dict[tuple[int, Place], int], int]:
    """Return the middle of each place of each row, and the width of the drawing."""
    middles = {(row, name): middle for row, names in enumerate(rows) for name, middle in _middles(names).items()}
    half = round(max(abs(middle) + _wide(name) / 2 for (_, name), middle in middles.items()) + _MARGIN)
    return {key: half + round(middle) for key, middle in middles.items()}, 2 * half


def _arrow(read: str, stage: str, rows: Sequence[Sequence[Place]], places: Mapping[tuple[int, Place], int]) -> str:
    """Return the curve from a stage to one that reads it, by the places that it passes."""
    first = next(row for row, names in enumerate(rows) if (read,) in names)
    last = next(row for row, names in enumerate(rows) if (stage,) in names)
    x, y = places[first, (read,)], _MARGIN + first * _STEP + _HEIGHT
    path = f"M{x} {y}"
    for row in range(first + 1, last + 1):
        to = places[row, (stage,) if row == last else (read, stage)]
        top = _MARGIN + row * _STEP
        middle = (y + top) // 2
        path += f"C{x} {middle} {to} {middle} {to} {top}"
        if row < last:
            path += f"V{top + _HEIGHT}"
        x, y = to, top + _HEIGHT
    return f'<path d="{path}" marker-end="url(#end)"/>'


def _box(stage: str, middle: int, row: int, optional: frozenset[str]) -> str:
    top, round_ = _MARGIN + row * _STEP, _HEIGHT // 2 if "/" in stage or stage == "reports" else 3
    kind = ' class="optional"' if stage in optional else ""
    return (
        f'<rect{kind} x="{middle - _WIDTH // 2}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="{round_}"/>'
        f'<text x="{middle}" y="{top + _HEIGHT // 2 + 5}">{escape(stage.removeprefix("models/"))}</text>'
    )
