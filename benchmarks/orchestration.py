"""Processor time of a build of 64 shards: the stages' own work against everything else, and what that is.

    python -m benchmarks.orchestration [--shards N] [--articles N] [--workers N] [--edges SHARDS]

`flows.build_corpus` runs as people run it, on processes and with a Prefect server of its own, over records that hold
their documents: 525 paragraphs of 70 words an article (Liu & Lapata 2019, sec. 4), so that no web is served. A job's
processor time is that of its process, from the loaded function to the record. The rest is divided by process (the
flow's, its workers, the server) and in two: what a run costs once (imports, start of processes, tables of the
database), and what a task costs. The former does not depend on a corpus's size, and the work of a task grows with its
articles; so the shard is given from which a task's share is below 5 %. What the server was asked and what it keeps say
what is in the way.

--edges submits a stage of so many shards that do nothing, once after the stages that it reads and once after none.
"""

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any
from unittest.mock import patch

from benchmarks.counting_server import CountingServer, counting_server
from benchmarks.frame import apart, command
from benchmarks.synthetic import make_articles, make_documents
from tasks.engine.shard import Job

BAR = 0.05
_TEXTS = 16  # different articles; the others repeat their texts


def used(who: int) -> float:
    """Return the processor seconds of this process or of its ended children."""
    usage = getrusage(who)
    return usage.ru_utime + usage.ru_stime


def timed(make: Callable[[Job], Any], folder: str, job: Job) -> Any:
    """Make a shard, and write down when its function was loaded, when it began and when it ended, in this process."""
    called = time.process_time()
    if isinstance(job.function, str):
        resolve_name(job.function)
    began, children = time.process_time(), used(RUSAGE_CHILDREN)
    record = make(job)
    line = [job.stage, called, began, time.process_time() + used(RUSAGE_CHILDREN) - children]
    with (Path(folder) / str(os.getpid())).open("a") as file:
        file.write(json.dumps(line) + "\n")
    return record


def write_records(file: Path, articles: int) -> None:
    """Write articles with their documents as JSONL."""
    leads, documents = make_articles(_TEXTS).to_pylist(), make_documents(_TEXTS).to_pylist()
    texts = {lead["article_id"]: [] for lead in leads}
    for row in documents:
        text = "\n".join(row["paragraphs"])
        texts[row["article_id"]].append({"url": row["url"], "title": "", "text": text})
    with file.open("w") as lines:
        for number in range(articles):
            lead = leads[number % _TEXTS]
            article = {"title": f"{lead['title']} {number}", "lead": lead["lead"]}
            lines.write(json.dumps({**article, "documents": texts[lead["article_id"]]}) + "\n")


def build(folder: str, shards: int, workers: int) -> dict[str, Any]:
    """Run a build of the records in a folder in this process; return processor seconds, tasks, requests and rows."""
    from flows.build_corpus import build_corpus
    from flows.config import BuildConfig
    from flows.running.execution import PrefectExecutor

    started, root = time.process_time(), Path(folder)
    bodies = root / "bodies"
    bodies.mkdir()
    config = BuildConfig.model_validate(
        {
            "root": str(root / "data"),
            "source": {"kind": "records", "records": {"paths": [str(root / "articles.jsonl")]}},
            "search": {
                "provider": "none"
            },  # a build's defaults are those of the embedded web, which is not served here
            "shards": {"articles": shards, "hosts": shards},
            "vocabulary": {"pieces": 4000, "model_type": "bpe"},
            "engine": {"workers": workers},
        }
    )
    run = PrefectExecutor.run

    def measured(self: PrefectExecutor, make: Any, jobs: Sequence[Job], after: Sequence[Any] = ()) -> Any:
        return run(self, partial(timed, make, str(bodies)), jobs, after)

    with counting_server(root / "prefect") as server:
        server_start = server.processor_seconds()
        began, ended_children = time.process_time(), used(RUSAGE_CHILDREN)
        with patch.object(PrefectExecutor, "run", measured):
            build_corpus(config)
        flow, workers_all = time.process_time() - began, used(RUSAGE_CHILDREN) - ended_children
        rows, serving = _settled(server), server.processor_seconds() - server_start
    figures = by_worker([[json.loads(line) for line in file.read_text().splitlines()] for file in bodies.iterdir()])
    once = {"flow": started, "server": server_start, "workers": figures["start"], "loading": figures["loading"]}
    rest = workers_all - figures["start"] - figures["loading"] - figures["work"]
    return {
        "tasks": figures["tasks"],
        "work": figures["work"],
        "stages": figures["stages"],
        "once": once,
        "by task": {"flow": flow, "server": serving, "workers": rest},
        "rows": rows,
        "requests": server.requests,
    }


def _settled(server: CountingServer) -> dict[str, int]:
    """Wait until the server has written what it was sent; return the rows of its database."""
    rows = server.rows()
    while True:
        time.sleep(3)  # its services write every second or two
        before, rows = rows, server.rows()
        if rows == before:
            return rows


def by_worker(logs: list[list[Any]]) -> dict[str, Any]:
    """Sum what the jobs of each worker wrote down (`timed`): tasks, work, work by stage, start and loading."""
    work: dict[str, float] = {}
    for stage, _, began, ended in (line for log in logs for line in log):
        work[stage] = work.get(stage, 0.0) + ended - began
    return {
        "tasks": sum(map(len, logs)),
        "work": sum(work.values()),
        "stages": work,
        "start": sum(log[0][1] for log in logs),
        "loading": sum(began - called for log in logs for _, called, began, _ in log),
    }


def submit_edges(folder: str, shards: int, after: bool) -> dict[str, Any]:
    """Submit shards that do nothing, with or without a stage before them, on threads of this process."""
    from prefect import flow
    from prefect.client.orchestration import get_client
    from prefect.states import Completed

    from flows.running.execution import PrefectExecutor
    from flows.running.graph import current_flow_run, show
    from flows.running.settings import EngineSettings

    @flow(name="edges")
    def submit() -> str:
        executor = PrefectExecutor(EngineSettings(kind="threads"))
        read = [show(f"input-{number}", Completed(), []) for number in range(3)] if after else []
        job = Job(root=folder, stage="articles", version=0, shard=0, key="", function=_nothing, inputs={}, digests={})
        jobs = [replace(job, shard=shard) for shard in range(shards)]
        with executor.serving():
            executor.run(_nothing, jobs, [shown for shown in read if shown is not None])
        return str(current_flow_run())

    with counting_server(Path(folder) / "prefect") as server:
        before, began = server.processor_seconds(), time.process_time()
        flow_run = submit()
        _settled(server)
        figures = {"flow": time.process_time() - began, "server": server.processor_seconds() - before}
        with get_client(sync_client=True) as client:
            started = time.perf_counter()
            nodes = client._client.get(f"/flow_runs/{flow_run}/graph-v2").json()["nodes"]
            figures["graph"] = time.perf_counter() - started
    return {**figures, "edges": sum(len(node["parents"]) for _, node in nodes)}


def _nothing(job: Job) -> None:
    """Do nothing."""


def show_build(made: dict[str, Any], articles: int) -> float:
    """Print the figures of a build; return the share of what its tasks cost beside their work."""
    tasks, work = made["tasks"], made["work"]
    print(f"{tasks} tasks; processor seconds of the stages' own work: {work:.1f}")
    for stage, seconds in sorted(made["stages"].items(), key=lambda one: -one[1]):
        print(f"    {stage:28}{seconds:8.1f} s")
    for name, title in (("once", "once a run"), ("by task", "by task")):
        print(f"{title}: {sum(made[name].values()):.1f} s")
        for process, seconds in made[name].items():
            each = f"{1000 * seconds / tasks:8.1f} ms a task" if name == "by task" else ""
            print(f"    {process:28}{seconds:8.1f} s{each}")
    for title in ("requests", "rows"):
        print(
            f"the server's {title}: "
            + ", ".join(
                f"{name} {count:,}" for name, count in sorted(made[title].items(), key=lambda one: -one[1])[:14]
            )
        )
    cost, start = sum(made["by task"].values()), sum(made["once"].values())
    share, whole = cost / (cost + work), (cost + start) / (cost + start + work)
    enough = articles * cost / tasks * (1 - BAR) / BAR / (work / tasks)
    reached = "reached" if share <= BAR else "missed"
    print(f"beside the work: {share:.1%} by task, {whole:.1%} with what a run costs once; goal {BAR:.0%}: {reached}")
    print(f"a task's share is below {BAR:.0%} from {enough:,.0f} articles a shard on, here {articles}")
    return share


def main(shards: int = 64, articles: int = 20, workers: int = 2, edges: int = 0) -> int:
    """Print the figures; return the exit status, 1 if the share by task is above the goal."""
    if edges:
        for after in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                made = apart(submit_edges, folder, edges, after)
            each = ", ".join(f"{process} {1000 * made[process] / edges:.1f} ms" for process in ("flow", "server"))
            print(f"{edges:,} shards, {made['edges']:,} edges: a task {each}; its graph in {made['graph']:.2f} s")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        write_records(Path(folder) / "articles.jsonl", shards * articles)
        made = apart(build, folder, shards, workers)
    return 0 if show_build(made, articles) <= BAR else 1


if __name__ == "__main__":
    command(main, __doc__)
