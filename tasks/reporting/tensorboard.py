"""A build for TensorBoard, as files: curves and scores as scalars, tables and sentences of the report as texts."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from storage.directories import DirectoryRecord
from storage.store import Store
from tasks.reporting.curves import stored_curves
from tasks.reporting.publishing import ARTIFACTS

_log = logging.getLogger(__name__)

Scalar = tuple[str, float, int]  # name, value, step


def write_events(
    store: Store, report: DirectoryRecord, models: Iterable[DirectoryRecord], corpus: str, to: str
) -> None:
    """Write a report and its models' curves below the folder `to`, each report once; if that is not possible, the log
    has a warning."""
    texts = {}
    for file in report.files:
        if file.startswith(ARTIFACTS):
            parts = store.read_bytes(f"{report.path}/{file}").decode().split("\n\n")
            texts[Path(file).stem] = "\n\n".join(part for part in parts if not part.startswith("!["))  # no pictures
    scalars = [*_scores(report), *_points(store, models)]
    try:
        _write(Path(to), f"{corpus}-{report.key[:8]}", scalars, texts)
    except OSError as error:
        _log.warning("TensorBoard's files of report %s could not be written: %s", report.key, error)


def _scores(report: DirectoryRecord) -> Iterator[Scalar]:
    for system, score in report.metrics["headline_scores"].items():
        yield f"scores/{report.metrics['headline']}/{system}", score, 0
    for method, recalls in report.metrics["table1"].items():
        for cutoff, recall in recalls.items():
            yield f"ranking/{method}", recall, int(cutoff)


def _points(store: Store, models: Iterable[DirectoryRecord]) -> Iterator[Scalar]:
    for model in models:
        for curve in stored_curves(store, model.name.removeprefix("models/"), model.path):
            for series, points in curve.series.items():
                for step, value in points:
                    yield f"{curve.name}/{series}", value, int(step)


def _write(folder: Path, name: str, scalars: Iterable[Scalar], texts: Mapping[str, str]) -> None:
    """Write a folder of event files, whole or not at all."""
    from torch.utils.tensorboard import SummaryWriter

    if (folder / name).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as unfinished:
        with SummaryWriter(f"{unfinished}/{name}") as writer:
            for scalar, value, step in scalars:
                writer.add_scalar(scalar, value, step)
            for text, markdown in texts.items():
                writer.add_text(text, markdown)
        (Path(unfinished) / name).rename(folder / name)
