"""Processor time of a build of 64 shards: the stages' own work against everything else.

    python -m benchmarks.orchestration [--shards N] [--articles N] [--workers N]
    python -m benchmarks.orchestration --engines [--shards 4] [--articles 2] [--workers 2] [--most 16]

`flows.build_corpus` runs as people run it, on processes and with its own Prefect server. The records hold their
documents, 525 paragraphs of 70 words an article (Liu & Lapata 2019, sec. 4), so that no web is served. A job's work is
the processor time of its process, from the loaded function to the record. The rest is that of the flow's process, its
workers and the server.

A quarter of the shards are built first, with as many articles each. What the larger build takes more is by task; what
both take is what a run costs once: imports, start of processes, tables of the database. The latter does not depend on a
corpus's size, and the work of a task grows with its articles; so the shard is given from which a task's share is below
5 %.

With `--engines` a row for threads, processes and Dask at 1, 4 and 16 times the articles says what a corpus whose
near-duplicates are refused takes, which shuffles sketches between shards. Then a worker of processes and of Dask is
killed in that shuffle; the row says how the run ended, and whether the same command then gave the bytes of the first
row."""

import json
import os
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any
from unittest.mock import patch

import psutil

from benchmarks.frame import OptionError, apart, command
from benchmarks.synthetic import build_of_records, write_records

BAR = 0.05
SHUFFLED = "sketches"  # the dataset whose rows go from each shard to all others
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


def corpus_on(folder: str, articles: int, shards: int, workers: int, kind: str, kill: bool) -> dict[str, Any]:
    """Build a corpus of new records with an engine in this process, or continue the one in the folder; with `kill`
    a worker is killed in the shuffle. Return seconds, processor seconds, peak bytes, digests of shards, and how it
    ended."""
    root = Path(folder)
    os.environ |= {"PREFECT_HOME": str(root / "prefect")}
    from flows.build_corpus import build_corpus
    from flows.running.temporary_server import use_prefect_api

    if not (root / "articles.jsonl").exists():
        write_records(root / "articles.jsonl", articles)
    across = {"near_duplicates": "corpus", "leakage": "off"}
    engine = {"kind": kind, "workers": workers}
    vocabulary = {"pieces": 4000, "model_type": "bpe"}
    config = build_of_records(
        root / "articles.jsonl", root / "data", shards, vocabulary=vocabulary, across=across, engine=engine
    )
    use_prefect_api()
    server, ended = set(psutil.Process().children(recursive=True)), ""
    with _watched(server, root / "data" if kill else None) as seen:
        started = time.monotonic()
        try:
            build_corpus(config)
        except Exception as error:  # noqa: BLE001 - what is said is the result
            ended = str(error).strip().splitlines()[0]
        seconds = time.monotonic() - started
    records = sorted((root / "data").glob("*/part-*.json"))
    digests = {f"{path.parent.name}/{path.stem}": json.loads(path.read_text())["written"]["sha256"] for path in records}
    return {"seconds": seconds, **seen, "digests": digests, "ended": ended}


@contextmanager
def _watched(server: Collection[psutil.Process], kill_below: Path | None) -> Iterator[dict[str, float]]:
    """Note every fifth of a second the processor time and the highest memory of this process and what it starts,
    without the server. `kill_below`: root in which a worker is killed when the sketches are shuffled."""
    seen, over, used = {"processor": 0.0, "peak": 0.0, "killed": 0.0}, threading.Event(), dict[int, float]()
    before = time.process_time()

    def note() -> None:
        while not over.wait(0.2):
            memory = psutil.Process().memory_info().rss
            workers = [child for child in psutil.Process().children(recursive=True) if child not in server]
            for worker in workers:
                with suppress(psutil.Error):
                    memory += worker.memory_info().rss
                    used[worker.pid] = sum(worker.cpu_times()[:2])
            seen["peak"] = max(seen["peak"], memory)
            if kill_below and not seen["killed"] and any(kill_below.glob(f"{SHUFFLED}/part-*.json")):
                computing = [worker for worker in workers if used.get(worker.pid, 0.0) > 1.0]
                if computing:
                    max(computing, key=lambda worker: used[worker.pid]).kill()
                    seen["killed"] = 1.0

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
        seen["processor"] = time.process_time() - before + sum(used.values())


def show_engines(shards: int, articles: int, workers: int, most: int) -> int:
    """Print the table of engines; return the exit status, 1 if bytes differ."""
    print("| engine | articles | s | processor s | peak MB | a worker is killed: how the run ended | same bytes |")
    print("|---|---|---|---|---|---|---|")
    expected, wrong = dict[int, Any](), 0
    for kind in ("threads", "processes", "dask"):
        for times in (1, 4, 16):
            if times > most:
                continue
            count = shards * articles * times
            with tempfile.TemporaryDirectory() as folder:
                done = apart(corpus_on, folder, count, shards, workers, kind, False)
            equal = expected.setdefault(count, done["digests"]) == done["digests"] and not done["ended"]
            wrong += not equal
            print(_engine_row(kind, count, done, done["ended"] or "–", equal), flush=True)
        if kind == "threads":
            continue  # the run is the worker
        count = shards * articles * min(4, most)
        with tempfile.TemporaryDirectory() as folder:
            killed = apart(corpus_on, folder, count, shards, workers, kind, True)
            again = apart(corpus_on, folder, count, shards, workers, kind, False) if killed["ended"] else killed
        equal = again["digests"] == expected[count] and not again["ended"]
        wrong += not equal
        said = (killed["ended"] or "completed") if killed["killed"] else "no worker was killed"
        print(_engine_row(kind, count, killed, said.replace("|", "/")[:160], equal), flush=True)
    return 1 if wrong else 0


def _engine_row(kind: str, count: int, done: Mapping[str, Any], said: str, equal: bool) -> str:
    figures = f"{done['seconds']:.0f} | {done['processor']:.0f} | {done['peak'] / 1e6:,.0f}"
    return f"| {kind} | {count} | {figures} | {said} | {'yes' if equal else 'no'} |"


def main(shards: int = 64, articles: int = 20, workers: int = 2, engines: bool = False, most: int = 16) -> int:
    """Print the figures; return the exit status, 1 if the share by task is above the goal, or bytes of engines
    differ."""
    if engines:
        return show_engines(shards, articles, workers, most)
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
