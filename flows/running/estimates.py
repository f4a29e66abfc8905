"""Estimate the cost of a plan's missing shards, at rates measured in this root's records."""

from collections.abc import Iterator
from dataclasses import dataclass

from storage.directories import DirectoryRecord, find_directory
from storage.recipes import ShardRecord, read_record
from storage.schemas import ARTICLES, DATASETS, FEATURES, PARAGRAPHS, SEARCH, Dataset
from storage.store import Store
from tasks.engine.stage import Run
from tasks.search.settings import SearchSettings

CORPUS_ARTICLES = 1_579_360  # training articles of the released ranked WikiSum
ARTICLE_PARAGRAPHS = 525  # candidates of an article, mean (Liu & Lapata 2019, sec. 4)
REFERENCE_RATE = 51.8  # articles of 525 paragraphs a second on one core: `python -m benchmarks.labels`
MEASURABLE_PARAGRAPHS = 100_000  # smaller roots spend more time on starting than on paragraphs

_SAMPLE = 50  # records read, if none of the plan's own shards is done


@dataclass(frozen=True)
class Estimate:
    """The cost of a stage's missing shards.

    Attributes:
        shard_seconds: mean time of a shard in records of this root; None = none has been made here yet.
        hours: worker-hours of the missing shards at this rate; None = unknown.
    """

    shard_seconds: float | None
    hours: float | None


def estimate(run: Run) -> dict[str, Estimate]:
    """Return the estimate of each stage and directory of a planned walk."""
    estimates = {}
    for plan in run.plans:
        seconds = _shard_seconds(run, plan.stage)
        left = plan.shards - plan.done
        estimates[plan.stage] = Estimate(seconds, None if left and seconds is None else left * (seconds or 0.0) / 3600)
    return estimates


def queries(run: Run, settings: SearchSettings) -> int | None:
    """Return the maximum number of queries for the missing shards of `search`; None = not known yet.

    Articles that have search results from their source need none, but are counted, because their shard is not read.
    """
    articles, search = run.stages.get(ARTICLES.name), run.stages.get(SEARCH.name)
    if settings.provider == "none" or (articles and search and search.complete):
        return 0
    if articles is None or search is None or not articles.complete:
        return None
    left = [record for shard, record in articles.records.items() if shard not in search.records]
    return sum(record.written.rows - sum(record.drops.values()) for record in left)


def _shard_seconds(run: Run, name: str) -> float | None:
    result = run.stages.get(name)
    records = _directory_records(run.store, name) if result is None else _records_of(run, DATASETS[result.stage])
    return sum(record.seconds for record in records) / len(records) if records else None


def _records_of(run: Run, dataset: Dataset) -> list[ShardRecord]:
    """Return the records of the plan's own shards, or of other shards of the dataset if there are none."""
    result = run.stages.get(dataset.name)
    own = list(result.records.values()) if result else []
    return own or list(_shard_records(run.store, dataset.name))


def _shard_records(store: Store, stage: str) -> Iterator[ShardRecord]:
    """Yield some records of a stage, of any recipe."""
    for name in sorted(file for file in store.sizes(stage) if file.endswith(".json"))[:_SAMPLE]:
        try:
            yield read_record(store, f"{stage}/{name}")
        except ValueError:
            continue


def _directory_records(store: Store, name: str) -> list[DirectoryRecord]:
    keys = sorted(file.removesuffix(".json") for file in store.sizes(name) if file.endswith(".json"))[:_SAMPLE]
    return [record for key in keys if (record := find_directory(store, name, key)) is not None]


def label_rate(run: Run) -> float | None:
    """Return the paragraphs per second that one core processes, from documents to clones, labels and tf-idf.

    Measured in the records of `paragraphs` and `features`; None if they hold too few.
    """
    candidates, labelled = (_records_of(run, dataset) for dataset in (PARAGRAPHS, FEATURES))
    rows = sum(record.written.rows for record in candidates)
    labels = sum(record.written.rows for record in labelled)
    if rows < MEASURABLE_PARAGRAPHS or not labels:
        return None
    kept = 1 - sum(sum(record.drops.values()) for record in candidates) / rows
    seconds = sum(record.seconds for record in candidates) / rows
    return 1 / (seconds + kept * sum(record.seconds for record in labelled) / labels)


def corpus_hours(rate: float | None) -> float:
    """Return the core-hours for clones, labels and tf-idf of the whole WikiSum.

    Args:
        rate: paragraphs a second; None = the benchmark's.
    """
    paragraphs = CORPUS_ARTICLES * ARTICLE_PARAGRAPHS
    return paragraphs / (rate or REFERENCE_RATE * ARTICLE_PARAGRAPHS) / 3600
