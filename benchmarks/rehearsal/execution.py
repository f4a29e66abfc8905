"""The executed part of the rehearsal: every stage up to the report, on a Dask cluster of two worker processes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from prefect import flow

from benchmarks.jobs import MeasuringExecutor, read_measured
from benchmarks.loopback_web import served
from benchmarks.rehearsal.world import write_articles
from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from flows.running.temporary_server import use_prefect_api
from storage.store import Store
from tasks.crawl.frontier import plan_hosts
from tasks.engine.stage import Run

End = Literal["corpus", "report"]

WORKERS = 2
# Seconds between two requests to a domain, so that turns are taken as on the web, and yet nobody waits long for them.
DELAY = 0.01
CRAWL_DELAY = 1.0  # of a crawl of the web, the default of crawl.host_delay_seconds


def configuration(folder: Path) -> BuildConfig:
    """Return the settings of the executed part: those of the papers, with short trainings of small models.

    This rehearsal does not measure cost and quality of trainings; the ranker that is applied has the papers' size."""
    few = {"steps": 20, "validation_interval": 20}
    return BuildConfig.model_validate(
        {
            "preset": "paper",
            "root": str(folder / "root"),
            "engine": {"kind": "dask", "workers": WORKERS, "device": "cpu"},
            "source": {"kind": "records", "records": {"paths": [str(folder / "articles.jsonl")]}},
            "shards": {"articles": WORKERS, "hosts": WORKERS},
            "crawl": {"contact": "rehearsal@example.org", "host_delay_seconds": DELAY},
            "vocabulary": {"threads": 1},
            "ranker": few,
            "summarizer": {"preset": "ht-small"},
            "training": {**few, "warmup": 10, "keep_best": 1, "decoded_articles": 0, "validation_articles": 4},
            "decoding": {"beam": 1, "min_length": 1, "max_length": 20},
        }
    )


@flow(name="rehearsal")
def rehearse(config: BuildConfig, connect_to: dict[str, str], folder: Path, end: End) -> dict[str, Any]:
    """Walk every stage up to the corpus or the report; return rows, bytes and shards of each, and the domains.

    Raises StageFailedError: some shards could not be made; run it again to continue."""
    executor = MeasuringExecutor(config.engine, config.name, folder / "measured")
    session = Session(config, executor, Run(Store(config.root), executor), connect_to)
    with executor.serving():
        (dag.corpus if end == "corpus" else dag.report)(session)
    run = session.run
    stages = {
        name: {
            "shards": len(result.shards),
            "rows": sum(record.written.rows for record in result.in_order),
            "refused": sum(sum(record.drops.values()) for record in result.in_order),
            "bytes": sum(record.written.bytes for record in result.in_order),
        }
        for name, result in run.stages.items()
    }
    directories = {name: {"shards": 1, "rows": 0, "refused": 0, "bytes": 0} for name in run.directories}
    return {"stages": {**stages, **directories}, "frontier": _frontier(run), "crawl": _crawl(run)}


def _frontier(run: Run) -> dict[str, Any]:
    """Return the URLs of the frontier by registered domain, most first."""

    def batches() -> Iterator[pa.RecordBatch]:
        for record in run.stages["frontier"].in_order:
            yield from run.store.read_table(record.path, record.written.sha256).to_batches()

    urls = [load.urls for load in plan_hosts(batches(), done=(), delay=CRAWL_DELAY)]
    return {"urls": sum(urls), "domains": urls}


def _crawl(run: Run) -> dict[str, int]:
    """Return the requests for URLs, and how many brought a page."""
    requests = pages = 0
    for record in run.stages["pages"].in_order:
        for batch in run.store.read_batches(record.path, record.written.sha256, ["attempts", "sha256"]):
            requests += sum(batch.column("attempts").to_pylist())
            pages += batch.num_rows - batch.column("sha256").null_count
    return {"requests": requests, "pages": pages}


def execute(folder: Path, articles: int, end: End = "report") -> dict[str, Any]:
    """Execute the stages on so many articles, or what a run that ended early left over; return what they took."""
    (folder / "measured").mkdir(parents=True, exist_ok=True)
    write_articles(folder / "articles.jsonl", articles)
    use_prefect_api()
    with served("benchmarks.rehearsal.world") as port:
        made = rehearse(configuration(folder), {"*.com": f"127.0.0.1:{port}"}, folder, end)
    taken: dict[str, dict[str, float]] = {}
    for job in read_measured(folder / "measured"):
        stage = taken.setdefault(job.stage, {"seconds": 0.0, "processor": 0.0, "peak_bytes": 0})
        stage["seconds"] = max(stage["seconds"], job.seconds)  # the shards run at the same time
        stage["processor"] += job.processor
        stage["peak_bytes"] = max(stage["peak_bytes"], job.peak_bytes)
    stages = {name: {**made["stages"][name], **taken[name]} for name in made["stages"] if name in taken}
    return {"articles": articles, "stages": stages, "frontier": made["frontier"], "crawl": made["crawl"]}
