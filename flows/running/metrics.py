"""Figures of a root for Prometheus: what the records of its latest build say, its champion, and its disk.

They are at `/metrics` of `wikisum serve --metrics ADDRESS`, and in the file that WIKISUM_METRICS names, for the
textfile collector of Prometheus's node exporter, which a run updates until it ends."""

import math
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from storage.builds import SUMMARIZER, Build, latest_build
from storage.directories import read_directory_record
from storage.errors import StorageError
from storage.registry import read_champion, read_version
from storage.spending import spent, this_month
from storage.store import Store

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import GaugeMetricFamily

    from tasks.engine.stage import Run

FILE = "WIKISUM_METRICS"
_WRITE_SECONDS = 15.0
_PAUSE = 100  # times as long as the last writing took: a root of a million files takes seconds to list
_COUNTS = {"rows": "rows made", "bytes": "bytes", "seconds": "seconds of all jobs", "peak_bytes": "largest memory"}


def registry(root: str, run: "Run | None" = None) -> "CollectorRegistry":
    """Return a collector of the figures of a root, and of a running run, for each request."""
    from prometheus_client import CollectorRegistry  # here: where nobody asks, it costs nothing

    class RootCollector:
        def collect(self) -> Iterator["GaugeMetricFamily"]:
            store = Store(root)
            try:
                build = latest_build(store)
                yield from () if build is None else _of_build(store, build)
                yield from _of_models(store)
                yield from _of_champion(store)
            except StorageError:  # a root that does not answer has no figures now
                return
            everybody, _ = spent(store, this_month())
            if everybody:
                amounts = {(what,): amount for what, amount in everybody.items()}
                yield _gauge("month_spent", "dollars of this month", ("of",), amounts)
            yield from _of_disk(store)
            yield from () if run is None else _of_run(run)

    collecting = CollectorRegistry()
    collecting.register(RootCollector())
    return collecting


@contextmanager
def metrics_file(run: "Run") -> Iterator[None]:
    """Renew the file of WIKISUM_METRICS while the block runs, and at its end; without the variable do nothing."""
    file = os.environ.get(FILE)
    if not file:
        yield
        return
    from prometheus_client import write_to_textfile

    ended, figures = Event(), registry(run.store.root, run)

    def write() -> None:
        pause = _WRITE_SECONDS
        while not ended.wait(pause):
            started = time.monotonic()
            write_to_textfile(file, figures)
            pause = max(_WRITE_SECONDS, _PAUSE * (time.monotonic() - started))

    writer = Thread(target=write, name="metrics", daemon=True)
    writer.start()
    try:
        yield
    finally:
        ended.set()
        writer.join()
        write_to_textfile(file, figures)


def _gauge(name: str, text: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> "GaugeMetricFamily":
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(f"wikisum_{name}", text, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _of_build(store: Store, build: Build) -> Iterator["GaugeMetricFamily"]:
    of = "of the latest build, by stage"
    for field, text in _COUNTS.items():
        amounts = {(name,): counts[field] for name, counts in build.counts.items()}
        yield _gauge(f"stage_{field}", f"{text} {of}", ("stage",), amounts)
    shards = {(name,): float(len(files)) for name, files in build.stages.items()}
    yield _gauge("stage_shards", f"shards {of}", ("stage",), shards)
    for field, label, text in (("drops", "reason", "rows refused"), ("tally", "of", "what else was counted")):
        result = {
            (name, of_what): float(count)
            for name, counts in build.counts.items()
            for of_what, count in counts.get(field, {}).items()
        }
        yield _gauge("stage_refused" if field == "drops" else "stage_tally", f"{text} {of}", ("stage", label), result)
    yield _gauge(
        "build_timestamp_seconds",
        "when the latest build finished, which a run that makes nothing new does not change",
        (),
        {(): _time(build.created)},
    )


def _of_models(store: Store) -> Iterator["GaugeMetricFamily"]:
    """Yield figures of the newest summarizer and what was trained with it: a new corpus has none yet."""
    build = latest_build(store, having=SUMMARIZER) or latest_build(store)
    figures = {}
    for name, path in build.models.items() if build else ():
        with suppress(FileNotFoundError, ValueError):
            for figure, value in read_directory_record(store, f"{path}.json").metrics.items():
                if isinstance(value, int | float) and math.isfinite(value):
                    figures[name, figure] = float(value)
    if build is not None:
        yield _gauge("model_figure", "figures of trainings, such as the loss", ("model", "figure"), figures)


def _of_champion(store: Store) -> Iterator["GaugeMetricFamily"]:
    if (champion := read_champion(store)) is None:
        return
    scores = {(metric,): mean for metric, mean in read_version(store, champion.version).scores.items()}
    yield _gauge("champion_version", "number of the champion", (), {(): float(champion.version)})
    promoted = {(): _time(str(champion.history[-1]["at"]))}
    yield _gauge("champion_timestamp_seconds", "when it became the champion", (), promoted)
    text = "its mean on the frozen test split, by metric; 0-1, except ratios"
    yield _gauge("champion_score", text, ("metric",), scores)


def _of_disk(store: Store) -> Iterator["GaugeMetricFamily"]:
    if not store.is_local or not Path(store.base).exists():  # a listing costs money there
        return
    sizes = Counter[str]()
    for name, info in store.files().items():
        sizes[name.partition("/")[0]] += info.size
    folders = {(folder,): float(size) for folder, size in sizes.items()}
    yield _gauge("disk_bytes", "bytes below the root, by folder", ("folder",), folders)
    disk = shutil.disk_usage(store.base)
    yield _gauge("disk_used_ratio", "share of the root's disk", (), {(): disk.used / (disk.used + disk.free)})


def _of_run(run: "Run") -> Iterator["GaugeMetricFamily"]:
    """Yield the shards of a run's stages: found done, computed by it, not made; a stage is last once it has ended."""
    shards = {}
    for plan in list(run.plans):
        result, model = run.stages.get(plan.stage), run.directories.get(plan.stage)
        made = len(result.records) if result else int(model is not None and model.record is not None)
        missing = plan.shards - max(made, plan.done)
        counts = {"found": plan.done, "computed": max(0, made - plan.done), "missing": missing}
        shards.update({(plan.stage, state): float(count) for state, count in counts.items()})
    yield _gauge("run_shards", "shards of this run, by stage and state", ("stage", "state"), shards)


def _time(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
