"""The plan of a build of full size: 1,000 shards of articles and of hosts, 90 M URLs.

Nothing is fetched or computed. A walk over the corpus's stages writes the record of each shard as a build would, with a
digest for each of its row groups, and a file of the right size without content. Stages after the corpus wait. Then, in
separate processes, three roots are planned: the empty one, the finished one (every shard is done), and one whose crawl
setting has changed (`frontier`, `pages` and all stages below must be computed again)."""

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.frame import apart, peak_bytes
from flows import dag
from flows.config import BuildConfig
from flows.running.execution import PrefectExecutor
from flows.running.session import Session, planning_session
from storage.recipes import ShardRecord, save_record
from storage.schemas import DATASETS, FRONTIER, PAGES
from storage.store import RowGroup, Store, WrittenTable
from tasks.engine.job import Job
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Executor, Outcome, Run, StagePlan
from tasks.sources.settings import MiniwebSettings

PARTITIONS = 1_000
ROW_BYTES = 200


class RecordingExecutor(Executor):
    """Writes the record of every job without computing it."""

    def __init__(self, store: Store, shards: int, urls: int) -> None:
        self._store = store
        self._shards = shards
        self._rows = urls // shards

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[Any] = ()) -> dict[str, Outcome]:
        """Return a record for each job."""
        return {job.name: self._record(job) for job in jobs}

    def publish(self, result: StageResult, planned: StagePlan) -> None:
        """Print the progress."""
        print(f"  {planned.stage}: {planned.shards:,} records", flush=True)

    def _record(self, job: Job) -> ShardRecord:
        rows = self._rows if job.stage in (FRONTIER.name, PAGES.name) else self._rows // 50
        name = f"{job.stage}/{job.shard}"
        groups = {}
        if DATASETS[job.stage].grouped_by:
            share = max(1, rows // self._shards)
            groups = {group: RowGroup(group, share, _digest(f"{name}/{group}")) for group in range(self._shards)}
        written = WrittenTable(rows, rows * ROW_BYTES, _digest(name) * 2, _digest(name), groups)
        of, fields = job.recipe, job.recipe.fields(0)
        record = ShardRecord(job.stage, job.shard, job.key, written, {}, job.digests, fields, of.made_version, 1.0, 1)
        file = Path(self._store.path(record.path))
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as empty:
            empty.truncate(written.bytes)  # a hole: no disk is used
        save_record(self._store, record)
        return record


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def configuration(root: str, shards: int, changed: bool = False) -> BuildConfig:
    """Return the settings of the build, or those with a setting of the crawl changed."""
    return BuildConfig.model_validate(
        {
            "root": root,
            "source": {"miniweb": {"topics": PARTITIONS * MiniwebSettings.partition_topics}},
            "shards": {"articles": shards, "hosts": shards},
            "crawl": {"max_bytes": 9_000_000 if changed else 10_000_000},
        }
    )


def record_build(root: str, shards: int, urls: int) -> None:
    """Write the records of a finished corpus."""
    config = configuration(root, shards)
    run = Run(Store(root), RecordingExecutor(Store(root), shards, urls))
    dag.corpus(Session(config, PrefectExecutor(config.engine), run))


def plan(kind: str, root: str, shards: int) -> dict[str, Any]:
    """Plan a root that is `empty`, `finished` or `changed`; return seconds, peak bytes and counts of shards."""
    session = planning_session(configuration(root, shards, kind == "changed"))
    started, used = time.perf_counter(), time.process_time()
    dag.corpus(session)
    return {
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - used,
        "peak": peak_bytes(),
        "done": sum(stage_plan.done for stage_plan in session.run.plans),
        "missing": sum(stage_plan.missing for stage_plan in session.run.plans),
        "waiting": sum(stage_plan.waiting for stage_plan in session.run.plans),
    }


def plans(folder: Path, shards: int, urls: int) -> dict[str, Any]:
    """Plan an empty root, and the finished and the changed one; return what each took.

    Raises SystemExit: a plan counts other shards than were recorded."""
    root = str(folder / "planned")
    made = {"empty": apart(plan, "empty", str(folder / "unplanned"), shards)}
    record_build(root, shards, urls)
    made |= {kind: apart(plan, kind, root, shards) for kind in ("finished", "changed")}
    finished = made["finished"]
    if made["empty"]["done"] or finished["missing"] or finished["waiting"] or made["changed"]["missing"] < shards:
        raise SystemExit(f"the plans count other shards than were recorded: {made}")
    return made
