"""Training curves, read from the `metrics.jsonl` of a trained model."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from models.training.checkpoints import read_metrics
from storage.store import Store

METRICS = "metrics.jsonl"
Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    """One quantity over the steps of a training run, or over another one."""

    name: str  # short name for files, such as summarizer-nll
    title: str  # what it is
    label: str  # label of the y axis, with the unit
    series: Mapping[str, Points]  # name -> points (step, value); at least one has a point
    over: str = "step"  # label of the x axis


_PLANS: Mapping[str, Sequence[Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("curves.toml").read_text(encoding="utf-8")
)


def ranker_curves(directory: Path) -> list[Curve]:
    """Return the curves of a ranker's training; none where its metrics are not there."""
    return _curves(directory, "ranker")


def summarizer_curves(directory: Path) -> list[Curve]:
    """Return the curves of a summarizer's training; none where its metrics are not there."""
    return _curves(directory, "summarizer")


def model_curves(name: str, directory: Path) -> list[Curve]:
    """Return the curves of any model's training, by the name of its directory below models/."""
    if name.startswith("attention-"):
        return _curves(directory, "attention")
    return ranker_curves(directory) if name == "ranker" else summarizer_curves(directory)


def stored_curves(store: Store, name: str, path: str) -> list[Curve]:
    """Return the curves of a model in a store, whose directory is `path`; none where its metrics are not there."""
    if not store.exists(f"{path}/{METRICS}"):
        return []
    with TemporaryDirectory(prefix="wikisum-") as folder:
        (Path(folder) / METRICS).write_bytes(store.read_bytes(f"{path}/{METRICS}"))
        return model_curves(name, Path(folder))


def _curves(directory: Path, model: str) -> list[Curve]:
    path = directory / METRICS
    lines = read_metrics(path) if path.is_file() else []
    curves = [
        Curve(one["name"], one["title"], one["label"], {name: _points(lines, *of) for name, *of in one["series"]})
        for one in _PLANS[model]
    ]
    return [curve for curve in curves if any(curve.series.values())]


def _points(lines: Sequence[Mapping[str, Any]], kind: str, field: str, factor: float) -> Points:
    """Return (step, value) of each line that has a number there; training writes null for what was not finite."""
    return [
        (line["step"], factor * line[field]) for line in lines if line["kind"] == kind and line.get(field) is not None
    ]
