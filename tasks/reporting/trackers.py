"""What trackers of experiments get of a build, TensorBoard as files and MLflow by the URL of its server: curves and
scores as scalars, tables and sentences of the report as texts; MLflow also settings, and the report itself."""

import logging
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from storage.directories import DirectoryRecord
from storage.store import Store
from tasks.reporting.curves import stored_curves
from tasks.reporting.facts import flatten
from tasks.reporting.publishing import ARTIFACTS, PAGE
from tasks.reporting.settings import ReportSettings

_UNNAMED = re.compile(r"[^\w./ -]")  # what MLflow takes in no name
_METRICS, _PARAMETERS = 1_000, 100  # of one request to MLflow, at most
_VALUE = 6_000  # characters of a parameter there, at most
_REPORT = "wikisum.report"  # the tag that tells whether a report has been sent
_log = logging.getLogger(__name__)

Scalar = tuple[str, float, int]  # name, value, step


def track(
    store: Store,
    report: DirectoryRecord,
    models: Iterable[DirectoryRecord],
    corpus: str,
    config: Mapping[str, Any],
    settings: ReportSettings,
) -> None:
    """Send a report and its models' curves to the trackers that the settings name, each report once; a tracker that
    does not take it gets a warning in the log. `config`: the recipe of the build's settings."""
    scalars = [*_scores(report), *_points(store, models)]
    texts = {}
    for file in report.files:
        if file.startswith(ARTIFACTS):
            parts = store.read_bytes(f"{report.path}/{file}").decode().split("\n\n")
            texts[Path(file).stem] = "\n\n".join(part for part in parts if not part.startswith("!["))  # no pictures
    try:
        if settings.tensorboard:
            _to_tensorboard(Path(settings.tensorboard), f"{corpus}-{report.key[:8]}", scalars, texts)
        if settings.mlflow:
            page = store.read_bytes(f"{report.path}/{PAGE}").decode()
            _to_mlflow(settings.mlflow, corpus, report.key, scalars, {**texts, "report": page}, config)
    except OSError as error:
        _log.warning("a tracker did not take report %s: %s", report.key, error)


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


def _to_tensorboard(folder: Path, name: str, scalars: Iterable[Scalar], texts: Mapping[str, str]) -> None:
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


def _to_mlflow(
    url: str, corpus: str, key: str, scalars: Iterable[Scalar], texts: Mapping[str, str], config: Mapping[str, Any]
) -> None:
    """Add a run to the experiment of a corpus. Raises ConnectionError: the server is away, or refuses."""
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param
    from mlflow.exceptions import MlflowException

    now = int(time.time() * 1000)
    metrics = [Metric(_UNNAMED.sub("_", name), value, now, step) for name, value, step in scalars]
    parameters = [Param(name, value[:_VALUE]) for name, value in flatten(config)]
    client = MlflowClient(url)
    try:
        found = client.get_experiment_by_name(corpus)
        experiment = client.create_experiment(corpus) if found is None else found.experiment_id
        sent = f"tags.`{_REPORT}` = '{key}' and attributes.status = 'FINISHED'"
        if client.search_runs([experiment], sent):
            return
        run = client.create_run(experiment, tags={_REPORT: key}, run_name=f"{corpus}-{key[:8]}").info.run_id
        for start in range(0, len(metrics), _METRICS):
            client.log_batch(run, metrics=metrics[start : start + _METRICS])
        for start in range(0, len(parameters), _PARAMETERS):
            client.log_batch(run, params=parameters[start : start + _PARAMETERS])
        for name, text in texts.items():
            client.log_text(run, text, f"{name}.{'html' if name == 'report' else 'md'}")
        client.set_terminated(run)
    except MlflowException as error:
        raise ConnectionError(f"MLflow at {url}: {error}") from error
