"""Which model is exported: the summarizer of a version or of a build, and the scores it got."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from storage.directories import DirectoryRecord, find_directory
from storage.errors import StorageError
from storage.parts import read_parts, whole
from storage.registry import read_champion, read_version, split_path
from storage.schemas import SCORES
from storage.store import Store
from tasks.engine.finished import finished_build, finished_stage
from tasks.evaluation.registry import METRICS
from tasks.evaluation.significance import SIGNIFICANCE, summarise_scores

SUMMARIZER = "models/summarizer"
_STAGES = ("scores", "baseline_scores")


@dataclass(frozen=True)
class ChosenModel:
    """A summarizer and what is known of it."""

    name: str  # `version 3`, or `build NAME`
    build: str  # name of its build
    record: DirectoryRecord  # of its directory
    settings: Mapping[str, Any]  # the whole configuration it was made with
    # Metric -> system -> mean, truth before ROUGE; a version has one system, its own
    scores: Mapping[str, Mapping[str, float]]
    articles: int | None  # test articles it was scored on; None = not recorded
    created: str  # UTC time, ISO 8601


def choose_model(store: Store, which: str) -> ChosenModel:
    """Return the summarizer of a version (its number, or `champion`) or of a build (its name, or `latest`). Raises
    StorageError: there is no such version or build, or its files have been pruned; ValueError: the build trained no
    summarizer."""
    if which == "champion" or which.isdecimal():
        version = read_version(store, _champion(store) if which == "champion" else int(which))
        record = _record(store, version.models, f"version {version.number}")
        scores = {metric: {"this model": value} for metric, value in version.scores.items()}
        created, settings, name, articles = version.created, version.settings, f"version {version.number}", None
        return ChosenModel(name, version.build, record, settings, _in_order(scores), articles, created)
    build = finished_build(store, None if which == "latest" else which)
    record = _record(store, build.models, f"build {build.name}")
    tables = [
        read_parts(store, stage, map(whole, finished_stage(store, build, stage).in_order)).select(SCORES.schema.names)
        for stage in _STAGES
        if stage in build.stages
    ]
    found: dict[str, dict[str, float]] = {}
    articles = None
    if tables:
        for score in summarise_scores(pa.concat_tables(tables), SIGNIFICANCE, int(build.config.get("seed", 1))):
            found.setdefault(score.metric, {})[score.system] = score.value.mean
            articles = max(articles or 0, score.articles)
    return ChosenModel(
        f"build {build.name}", build.name, record, build.config, _in_order(found), articles, build.created
    )


def _champion(store: Store) -> int:
    champion = read_champion(store)
    if champion is None:
        raise StorageError(f"root {store.root!r} has no champion: expected the number of a version, or a build")
    return champion.version


def _record(store: Store, models: Mapping[str, str], owner: str) -> DirectoryRecord:
    if SUMMARIZER not in models:
        raise ValueError(f"{owner} has no summarizer, only {', '.join(sorted(models)) or 'no model'}")
    record = find_directory(store, *split_path(models[SUMMARIZER]))
    if record is None:
        raise StorageError(f"{models[SUMMARIZER]}, which {owner} names, is gone (pruned) below {store.root}")
    return record


def _in_order(scores: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
    """Return the metrics in their order, truth first; those no longer known come last."""
    known: Sequence[str] = list(METRICS)
    return {name: scores[name] for name in (*known, *sorted(scores.keys() - set(known))) if name in scores}
