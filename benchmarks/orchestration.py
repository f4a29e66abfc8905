"""Processor time of a build of 64 shards: the stages' own work against everything else.

    python -m benchmarks.orchestration [--shards N] [--articles N] [--workers N]

`flows.build_corpus` runs as people run it, on processes and with its own Prefect server. The records hold their
documents, 525 paragraphs of 70 words an article (Liu & Lapata 2019, sec. 4), so that no web is served. A job's work is
the processor time of its process, from the loaded function to the record. The rest is that of the flow's process, its
workers and the server.

A quarter of the shards are built first, with as many articles each. What the larger build takes more is by task; what
both take is what a run costs once: imports, start of processes, tables of the database. The latter does not depend on a
corpus's size, and the work of a task grows with its articles; so the shard is given from which a task's share is below
5 %."""

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any
from unittest.mock import patch

import psutil

from benchmarks.frame import OptionError, apart, command
from benchmarks.synthetic import build_of_records, write_records

BAR = 0.05
PROCESSES = ("flow", "workers", "server")
_QUIET = 0.15  # processor seconds in three seconds of a server that has nothing to write


def build(folder: str, shards: int, workers: int) -> dict[str, Any]:
    """Build the records in a folder in this process; return tasks, and processor seconds of work and of processes."""
    root = Path(folder)
    (measured := root / "measured").mkdir()
    os.environ |= {"PREFECT_HOME": str(root / "prefect")}  # before it is imported: a database of its own
    from benchmarks.jobs import MeasuredJob, read_measured
    from flows.build_corpus import build_corpus
    from flows.running.execution import PrefectExecutor
    from flows.running.temporary_server import use_prefect_api

    pieces = {"pieces": 4000, "model_type": "bpe"}
    config = build_of_records(
        root / "articles.jsonl", root / "data", shards, vocabulary=pieces, engine={"workers": workers}
    )
    run = PrefectExecutor.run

    def measuring(self: PrefectExecutor, make: Any, jobs: Any, after: Any = ()) -> Any:
        return run(self, MeasuredJob(make, str(measured)), jobs, after)

    use_prefect_api()
    with patch.object(PrefectExecutor, "run", measuring):
        build_corpus(config)
    flow, ended = time.process_time(), getrusage(RUSAGE_CHILDREN)
    jobs, work = read_measured(measured), {}
    for job in jobs:
        work[job.stage] = work.get(job.stage, 0.0) + job.processor
    workers_rest = ended.ru_utime + ended.ru_stime - sum(work.values())
    return {"tasks": len(jobs), "stages": work, "flow": flow, "workers": workers_rest, "server": _settled()}


def _settled() -> float:
    """Wait until the server, which alone still runs, has written what it was sent; return its processor seconds."""
    before = 0.0
    while True:
        used = sum(sum(child.cpu_times()[:2]) for child in psutil.Process().children())
        if used - before < _QUIET:
            return used
        before = used
        time.sleep(3)  # its services write every second or two


def show_build(few: Mapping[str, Any], many: Mapping[str, Any], articles: int) -> float:
    """Print the figures of two builds; return the overhead of the larger one's tasks as a share of their cost."""
    tasks, work = many["tasks"], sum(many["stages"].values())
    print(f"{tasks} tasks; processor seconds of the stages' own work: {work:.1f}")
    for stage, seconds in sorted(many["stages"].items(), key=lambda one: -one[1]):
        print(f"    {stage:28}{seconds:8.1f} s")
    each = {name: (many[name] - few[name]) / (tasks - few["tasks"]) for name in PROCESSES}
    for name in PROCESSES:
        once = many[name] - tasks * each[name]
        print(f"    {name:28}{once:8.1f} s once a run{1000 * each[name]:8.1f} ms a task")
    task = sum(each.values())
    share, whole = (cost / (cost + work) for cost in (tasks * task, sum(many[name] for name in PROCESSES)))
    enough = articles * task * (1 - BAR) / BAR / (work / tasks)
    reached = "reached" if share <= BAR else "missed"
    print(f"beside the work: {share:.1%} by task, {whole:.1%} with what a run costs once; goal {BAR:.0%}: {reached}")
    print(f"a task's share is below {BAR:.0%} from {enough:,.0f} articles a shard on, here {articles}")
    return share


def main(shards: int = 64, articles: int = 20, workers: int = 2) -> int:
    """Print the figures; return the exit status, 1 if the share by task is above the goal."""
    if shards < 2:
        raise OptionError(f"expected --shards of at least 2, got {shards}")
    made = []
    for count in (max(1, shards // 4), shards):
        with tempfile.TemporaryDirectory() as folder:
            write_records(Path(folder) / "articles.jsonl", count * articles)
            made.append(apart(build, folder, count, workers))
    return 0 if show_build(*made, articles) <= BAR else 1


if __name__ == "__main__":
    command(main, __doc__)
