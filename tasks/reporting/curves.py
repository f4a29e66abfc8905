"""Training curves: read from the `metrics.jsonl` of a trained model, drawn, and the sections that show them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.axes import Axes

from models.training.checkpoints import read_metrics
from storage.store import Store
from tasks.engine.data_files import read_data
from tasks.reporting.blocks import Block, Heading, Picture, ReportSection, Text, section
from tasks.reporting.plots import COLORS, draw

METRICS = "metrics.jsonl"
Points = list[tuple[float, float]]
_DOTS = 40  # in a curve of fewer points, each point is marked
_JUDGES = ("ranker-loss", "summarizer-nll")  # the curves whose lowest validation picks a model's checkpoint


@dataclass(frozen=True)
class Curve:
    """One quantity over the steps of a training run, or over another one."""

    name: str  # short name for files, such as summarizer-nll
    title: str  # what it is
    label: str  # label of the y axis, with the unit
    series: Mapping[str, Points]  # name -> points (step, value); at least one has a point
    over: str = "step"  # label of the x axis


def model_curves(name: str, directory: Path) -> list[Curve]:
    """Return the curves of a model's training, by the name of its directory below models/: of the ranker, of a
    predictor of attention, or of a summarizer; none if its metrics are not there."""
    kind = "attention" if name.startswith("attention-") else "ranker" if name == "ranker" else "summarizer"
    path = directory / METRICS
    lines = read_metrics(path) if path.is_file() else []
    curves = [
        Curve(item["name"], item["title"], item["label"], {name: _points(lines, *of) for name, *of in item["series"]})
        for item in read_data("tasks.reporting", "curves.toml")[kind]
    ]
    return [curve for curve in curves if any(curve.series.values())]


def stored_curves(store: Store, name: str, path: str) -> list[Curve]:
    """Return the curves of a model in a store, whose directory is `path`; none if its metrics are not there."""
    if not store.exists(f"{path}/{METRICS}"):
        return []
    with TemporaryDirectory(prefix="wikisum-") as folder:
        (Path(folder) / METRICS).write_bytes(store.read_bytes(f"{path}/{METRICS}"))
        return model_curves(name, Path(folder))


def _points(lines: Sequence[Mapping[str, Any]], kind: str, field: str, factor: float) -> Points:
    """Return (step, value) of each line that has a number there; training writes null for what was not finite."""
    return [
        (line["step"], factor * line[field]) for line in lines if line["kind"] == kind and line.get(field) is not None
    ]


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

    return draw(panel)


@section("training", "Training")
def training_section(ranker: Sequence[Curve], summarizer: Sequence[Curve]) -> Iterator[Block]:
    """Training curves of both models."""
    for name, curves in (("Ranker", ranker), ("Summarizer", summarizer)):
        yield Heading(name)
        yield from _training(f"The {name.lower()}", curves)


def model_section(name: str, curves: Sequence[Curve]) -> ReportSection:
    """Training curves of one model, as soon as it is trained."""
    return ReportSection("training", f"Training of {name}", list(_training(name, curves)))


def _training(name: str, curves: Sequence[Curve]) -> Iterator[Block]:
    if not curves:
        yield Text(f"{name} has no metrics of its training.")
    for curve in curves:
        if curve.name in _JUDGES and (points := curve.series["validation"]):
            step, value = min(points, key=lambda point: point[1])
            times = "once" if len(points) == 1 else f"{len(points):,} times"
            yield Text(f"Validated {times}; the lowest value, {value:.4f}, was at step {step:,}.")
    for curve in curves:
        yield Picture(curve.title, curve_picture(curve))
