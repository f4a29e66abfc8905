"""Training curves, read from the `metrics.jsonl` of a trained model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.training.metrics import read_metrics

METRICS = "metrics.jsonl"
Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Curve:
    """One quantity over the steps of a training run, or over another one.

    Attributes:
        name: short name for files, such as summarizer-nll.
        title: what it is.
        label: label of the y axis, with the unit.
        series: name -> points (step, value); at least one has a point.
        over: label of the x axis.
    """

    name: str
    title: str
    label: str
    series: Mapping[str, Points]
    over: str = "step"


# name, title, label, and for each series: its name, the kind of line it is on, the field, the factor.
_Series = tuple[str, str, str, float]
_RANKER: Sequence[tuple[str, str, str, Sequence[_Series]]] = (
    (
        "ranker-loss",
        "Ranker: loss (binary cross entropy)",
        "loss (nats per paragraph)",
        (
            ("training", "train", "loss", 1),
            ("validation", "validation", "loss", 1),
            ("floor: scores = labels", "validation", "loss_floor", 1),
        ),
    ),
    (
        "ranker-recall",
        "Ranker: best paragraphs of validation articles",
        "mean ROUGE-2 recall (%)",
        (
            ("ranker", "validation", "recall", 100),
            ("tf-idf", "validation", "similarity_recall", 100),
            ("ceiling: by label", "validation", "gold_recall", 100),
        ),
    ),
)
_SUMMARIZER: Sequence[tuple[str, str, str, Sequence[_Series]]] = (
    (
        "summarizer-loss",
        "Summarizer: label-smoothed loss",
        "loss (nats per target token)",
        (
            ("training", "train", "loss", 1),
            ("validation", "validation", "loss", 1),
        ),
    ),
    (
        "summarizer-nll",
        "Summarizer: negative log likelihood",
        "nll (nats per target token)",
        (
            ("training", "train", "nll", 1),
            ("validation", "validation", "nll", 1),
        ),
    ),
    (
        "summarizer-rouge",
        "Summarizer: decoded validation articles",
        "ROUGE F1 (%)",
        (
            ("ROUGE-1", "validation", "rouge1", 100),
            ("ROUGE-2", "validation", "rouge2", 100),
            ("ROUGE-L", "validation", "rougeL", 100),
        ),
    ),
    (
        "summarizer-gradient",
        "Summarizer: gradient norm",
        "L2 norm before clipping",
        (("gradient", "train", "gradient_norm", 1),),
    ),
    ("summarizer-rate", "Summarizer: learning rate", "learning rate", (("rate", "train", "learning_rate", 1),)),
)

_ATTENTION: Sequence[tuple[str, str, str, Sequence[_Series]]] = (
    (
        "attention-error",
        "Attention predictor: error of expected attention",
        "squared error per paragraph",
        (
            ("training", "train", "error", 1),
            ("validation", "validation", "error", 1),
        ),
    ),
)


def ranker_curves(directory: Path) -> list[Curve]:
    """Return the curves of a ranker's training; none where its metrics are not there."""
    return _curves(directory, _RANKER)


def summarizer_curves(directory: Path) -> list[Curve]:
    """Return the curves of a summarizer's training; none where its metrics are not there."""
    return _curves(directory, _SUMMARIZER)


def model_curves(name: str, directory: Path) -> list[Curve]:
    """Return the curves of any model's training, by the name of its directory below models/."""
    if name.startswith("attention-"):
        return _curves(directory, _ATTENTION)
    return ranker_curves(directory) if name == "ranker" else summarizer_curves(directory)


def _curves(directory: Path, plan: Sequence[tuple[str, str, str, Sequence[_Series]]]) -> list[Curve]:
    path = directory / METRICS
    lines = read_metrics(path) if path.is_file() else []
    curves = [
        Curve(name, title, label, {wanted_curve[0]: _points(lines, *wanted_curve[1:]) for wanted_curve in wanted})
        for name, title, label, wanted in plan
    ]
    return [curve for curve in curves if any(curve.series.values())]


def _points(lines: Sequence[Mapping[str, Any]], kind: str, field: str, factor: float) -> Points:
    """Return (step, value) of each line that has a number there; training writes null for what was not finite."""
    return [
        (line["step"], factor * line[field]) for line in lines if line["kind"] == kind and line.get(field) is not None
    ]
