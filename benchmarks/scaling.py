"""Does a build take half the time on two workers, make the same bytes there, and grow in step with its corpus?

    python -m benchmarks.scaling [--articles N] [--workers N]

The stages from the articles to the labels of their paragraphs run as in a build, over records that hold their documents
(525 paragraphs of 70 words an article: Liu & Lapata 2019, sec. 4): on processes of Prefect and on Dask, with one worker
and with several, once the workers have made a small corpus and so have loaded their modules. Seconds are those of the
clock from there on, with everything that Prefect does meanwhile; the files of all runs are compared byte by byte. The
peer is a plain pool of processes (`concurrent.futures`) with the same jobs: what it gains is what the machine gives, of
which two workers share the memory, and often the cache or one core.

Growth is that of a corpus of 1, 4 and 16 shards of the same size on one worker: processor milliseconds an article and
the highest memory of a job. The crawl grows in benchmarks/crawl_memory.py. What a thousand shards add to a reader's own
part is in benchmarks/rehearsal/fan_in.py. Goals are marked as reached or missed; the exit status is 1 if one was
missed, or if a byte differs."""

import hashlib
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import flow

from benchmarks.frame import OptionError, command
from benchmarks.jobs import JobCost, MeasuringExecutor, PlainPool, read_measured
from benchmarks.synthetic import build_of_records, write_records
from flows import dag
from flows.config import BuildConfig
from flows.running.session import Session
from flows.running.temporary_server import use_prefect_api
from storage.store import Store
from tasks.engine.stage import Run

GOALS = {"processes": 1.8, "dask": 1.7}  # times as fast on two workers as on one
GROWTH = 1.10  # times as much an article at most, however many there are
SIZES = (1, 4, 16)  # shards
_WARM_SHARDS = 4  # a worker, of one article or two: so many that each gets one of every stage


@dataclass(frozen=True)
class Walked:
    """What the walk over a corpus took."""

    seconds: float  # of the clock
    jobs: list[JobCost]  # what each job took
    files: dict[str, str]  # relative path -> SHA-256 of its bytes

    @property
    def processor(self) -> float:
        """Processor seconds of all jobs."""
        return sum(job.processor for job in self.jobs)

    @property
    def peak_bytes(self) -> int:
        """Highest memory of a job."""
        return max(job.peak_bytes for job in self.jobs)


def walk(config: BuildConfig, executor: Any, measured: Path) -> Walked:
    """Walk the stages up to the labels; `measured` has what the jobs took, and is emptied."""
    started = time.perf_counter()
    dag.features(Session(config, executor, Run(Store(config.root), executor)))
    seconds = time.perf_counter() - started
    jobs = read_measured(measured)
    for file in measured.iterdir():
        file.unlink()
    return Walked(seconds, jobs, digests(Path(config.root)))


def digests(root: Path) -> dict[str, str]:
    """Return relative path -> SHA-256 of every table of a root."""
    tables = sorted(root.rglob("*.parquet"))
    return {str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest() for file in tables}


@flow(name="scaling")
def walk_all(configs: list[BuildConfig], measured: Path) -> list[Walked]:
    """Walk configurations that share their engine, one after another."""
    executor = MeasuringExecutor(configs[0].engine, configs[0].name, measured)
    with executor.serving():
        return [walk(config, executor, measured) for config in configs]


def run(folder: Path, kind: str, workers: int, sizes: Sequence[int]) -> list[Walked]:
    """Build a corpus of each size on workers that have made a small one before.

    The folder has the records of each size in shards, `SIZE.jsonl`, and of the small corpus, `warm.jsonl`."""
    place = folder / f"{kind}-{workers}"
    (measured := place / "measured").mkdir(parents=True)
    engine = {"kind": "threads" if kind == "plain" else kind, "workers": workers}
    corpora = [("warm", _WARM_SHARDS * workers), *((str(size), size) for size in sizes)]
    configs = [
        build_of_records(folder / f"{name}.jsonl", place / name, count, engine=engine) for name, count in corpora
    ]
    if kind != "plain":
        return walk_all(configs, measured)[1:]
    pool = PlainPool(workers, measured)
    with pool.serving():
        return [walk(config, pool, measured) for config in configs][1:]


def mark(reached: bool) -> str:
    """Return the word for a goal."""
    return "reached" if reached else "missed"


def show_scaling(walked: dict[str, dict[int, Walked]], workers: int) -> bool:
    """Print how many times as fast several workers are as one; return whether every goal was reached.

    `walked` has the walk over the largest corpus by kind and number of workers."""
    passed = True
    for kind, by_workers in walked.items():
        one, several = by_workers[1], by_workers[workers]
        ratio = one.seconds / several.seconds
        line = f"{kind:10}{one.seconds:8.1f} s on one{several.seconds:8.1f} s on {workers}{ratio:8.2f} x"
        if kind in GOALS:
            passed &= ratio >= GOALS[kind]
            line += f"   goal {GOALS[kind]}: {mark(ratio >= GOALS[kind])}"
        print(line)
    files = [one.files for by_workers in walked.values() for one in by_workers.values()]
    same = all(other == files[0] for other in files[1:])
    print(f"{len(files[0])} files of each of the {len(files)} runs: {'identical' if same else 'DIFFERENT'} bytes")
    return passed and same


def show_growth(articles: Sequence[int], processor: Sequence[float], peaks: Sequence[float]) -> bool:
    """Print processor time of an article and memory at each size; return whether neither grew by more than a tenth.

    There are so many `articles` at each size, the smallest first; seconds are for all of them, peaks in bytes."""
    passed = True
    each = [seconds / count for seconds, count in zip(processor, articles, strict=True)]
    for count, one, peak in zip(articles, each, peaks, strict=True):
        time_ratio, peak_ratio = one / each[0], peak / peaks[0]
        reached = max(time_ratio, peak_ratio) <= GROWTH
        passed &= reached
        figures = f"{1000 * one:10.2f} ms each{time_ratio:8.2f} x{peak / 1e6:10.0f} MB at most{peak_ratio:8.2f} x"
        print(f"{count:8,} articles  {figures}   goal {GROWTH:.2f}: {mark(reached)}", flush=True)
    return passed


def main(articles: int = 20, workers: int = 2) -> int:
    """Print ratios and growth; return the exit status."""
    if workers < 2 or articles < 1:
        raise OptionError("expected --workers of at least 2 and --articles of at least 1")
    use_prefect_api()
    walked: dict[str, dict[int, Walked]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_records(folder / "warm.jsonl", _WARM_SHARDS * workers)
        for size in SIZES:
            write_records(folder / f"{size}.jsonl", size * articles)
        for kind in ("plain", *GOALS):
            walked[kind] = {}
            for count in (1, workers):
                grows = (kind, count) == ("processes", 1)
                found = run(folder, kind, count, SIZES if grows else SIZES[-1:])
                walked[kind][count] = found[-1]
                if grows:
                    growing = found
    passed = show_scaling(walked, workers)
    figures = [one.processor for one in growing], [one.peak_bytes for one in growing]
    passed &= show_growth([size * articles for size in SIZES], *figures)
    return 0 if passed else 1


if __name__ == "__main__":
    command(main, __doc__)
