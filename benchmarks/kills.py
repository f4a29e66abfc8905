"""Commands are killed (`kill -9`) at drawn moments. Run again, they end in the bytes of an undisturbed run.

    python -m benchmarks.kills FOLDER [--count 50] [--seed 1] [--minutes 60]

A build, two weeks of retraining and an export at the smallest size give the expected bytes. They stay in the folder,
and another run takes them from there. A trial draws how many of their stages are finished already, and copies these. It
starts the command under a strict umask, waits until it works, and kills it with all its processes at a drawn moment, up
to five times. Then it runs the command to its end and compares. The exit status is 1 if bytes differ, or something
half-written or readable by others is left."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from random import Random

import psutil

from benchmarks.frame import command
from benchmarks.tiny_runs import PROJECT, TINY, WEEKLY, shards
from flows.running.child_processes import free_port, stop, wait_for_api
from storage.inventory import take_stock
from storage.registry import read_champion, read_version, version_numbers
from storage.store import Store

_PATIENCE = 3600.0
_WRITES = ("builds", "registry", "spending")  # not of stages: only a run that ends well writes them
MOST = 5  # kills of a trial
_HEAD = "| | command | stages done | killed after, s | it was at | same bytes |\n|---|---|---|---|---|---|"


@dataclass(frozen=True)
class Case:
    """A command, and what it makes undisturbed."""

    name: str
    arguments: tuple[str, ...]
    base: Path | None  # the root before it
    expected: Path  # the root after it; of an export, the folder
    seconds: float  # from the first sign of work to its end

    @property
    def stages(self) -> list[str]:
        """Folders of stages and models, in the order in which they were finished."""
        if self.name == "export":
            return []
        records = [path for pattern in ("*/*.json", "models/*/*.json") for path in self.expected.glob(pattern)]
        finished = dict[str, int]()
        for record in records:
            folder = record.parent.relative_to(self.expected).as_posix()
            if folder.partition("/")[0] not in _WRITES:
                finished[folder] = max(finished.get(folder, 0), record.stat().st_mtime_ns)
        return sorted(finished, key=lambda folder: finished[folder])


class Bench:
    """A folder of trials, and a Prefect server for all of them."""

    def __init__(self, folder: Path, api: str) -> None:
        self.folder = folder
        self.environment = {**os.environ, "PREFECT_HOME": str(folder / "home"), "PREFECT_API_URL": api}

    def cases(self) -> list[Case]:
        """Run each command undisturbed, unless an earlier run has."""
        first, second, built, exported = (
            self.folder / name for name in ("first-week", "second-week", "built", "exported")
        )
        building = ("build", *TINY, "--engine.kind=threads")
        self._undisturbed(first, (*_retraining(0), "--root", str(first)))
        if not second.exists():
            shutil.copytree(first, second)
        seconds = [
            self._undisturbed(built, (*building, "--root", str(built))),
            self._undisturbed(second, (*_retraining(1), "--root", str(second))),
            self._undisturbed(exported, ("export", "--root", str(built), "--to", str(exported))),
        ]
        return [
            Case("build", building, None, built, seconds[0]),
            Case("retrain", _retraining(1), first, second, seconds[1]),
            Case("export", ("export", "--root", str(built)), None, exported, seconds[2]),
        ]

    def _undisturbed(self, result: Path, arguments: tuple[str, ...]) -> float:
        """Run a command, and return how long it worked, in seconds."""
        noted = result.with_suffix(".seconds")
        if not noted.exists():
            with self.started(arguments) as run:
                run.wait_for_work()
                began = time.monotonic()
                if run.process.wait(_PATIENCE):
                    raise RuntimeError(f"an undisturbed run failed:\n{run.said()[-4000:]}")
                noted.write_text(str(time.monotonic() - began))
        return float(noted.read_text())

    @contextmanager
    def started(self, arguments: tuple[str, ...]) -> Iterator["CommandRun"]:
        """Run a command of `wikisum` in a session of its own; it has ended when the block does."""
        log = self.folder / "log"
        with log.open("wb") as output:
            call = [sys.executable, "-m", "flows", *arguments]
            process = subprocess.Popen(
                call, cwd=PROJECT, env=self.environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )
        run = CommandRun(process, log, arguments)
        try:
            yield run
        finally:
            run.kill()

    def trial(self, case: Case, random: Random, most: int) -> tuple[list[str], list[str]]:
        """Kill a command up to `most` times, run it to its end and compare; return the cells of a row for each kill,
        and what is wrong."""
        target, stages = self.folder / "trial", case.stages
        shutil.rmtree(target, ignore_errors=True)
        done = random.randrange(len(stages)) if stages else 0
        if case.base is not None:
            shutil.copytree(case.base, target)
        elif case.name == "build":
            take_stock(Store(str(target)))  # a root that has shards and no inventory is refused
        for stage in stages[:done]:
            shutil.copytree(case.expected / stage, target / stage, dirs_exist_ok=True)
        given = (*case.arguments, "--to" if case.name == "export" else "--root", str(target))
        longest = case.seconds * (1 - done / len(stages) if stages else 1) / 2
        rows, status = list[str](), None
        while len(rows) < most and status is None:
            with self.started(given) as run:
                run.wait_for_work()
                moment = random.uniform(0.0, longest)
                with suppress(subprocess.TimeoutExpired):
                    status = run.process.wait(moment)
                    break
            rows.append(f"{case.name} | {done} of {len(stages)} | {moment:.1f} | {run.last_line()}")
        if status is None:
            with self.started(given) as run:
                status = run.process.wait(_PATIENCE)
        wrong = [f"the last run ended with {status}: {run.last_line()}"] if status else []
        wrong += differences(made(case.expected), made(target))
        wrong += [f"{path} is half-written" for path in target.rglob("*.tmp")]
        wrong += [f"{path} is readable by others" for path in target.rglob("*") if path.stat().st_mode & 0o077]
        return rows, [f"{case.name}: {problem}" for problem in wrong]


class CommandRun:
    """A command's process and what it says."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path, arguments: tuple[str, ...]) -> None:
        self.process, self.log, self.arguments = process, log, arguments

    def said(self) -> str:
        """Return all that was printed."""
        return self.log.read_text(errors="replace")

    def last_line(self) -> str:
        """Return the last line that was printed, without time and level."""
        lines = [line for line in self.said().splitlines() if line.strip()]
        return lines[-1].rpartition(" - ")[2].replace("|", "/").strip()[:100] if lines else ""

    def wait_for_work(self) -> None:
        """Wait until it computes; an export, until its folder is there."""
        to = Path(self.arguments[-1])
        while self.process.poll() is None:
            if to.exists() if self.arguments[0] == "export" else ": computing" in self.said():
                return
            time.sleep(0.02)

    def kill(self) -> None:
        """Kill it with all that it has started."""
        if self.process.poll() is None:
            members = psutil.Process(self.process.pid).children(recursive=True)
            for member in [psutil.Process(self.process.pid), *members]:
                member.kill()
        self.process.wait(_PATIENCE)


def main(folder: Path, count: int = 50, seed: int = 1, minutes: float = 60) -> int:
    """Kill so many times, or as often as trials begin within so many minutes, and print a row for each kill; return the
    exit code."""
    random, started, failed, kills = Random(seed), time.monotonic(), list[str](), 0
    folder = folder.absolute()
    before = os.umask(0o077)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _server(folder) as bench:
            turns = cycle(bench.cases())
            print(_HEAD)
            while kills < count and time.monotonic() - started < 60 * minutes:
                rows, wrong = bench.trial(next(turns), random, min(MOST, count - kills))
                for row in rows:
                    kills += 1
                    print(f"| {kills} | {row} | {'no' if wrong else 'yes'} |", flush=True)
                failed += wrong
    finally:
        os.umask(before)
    print(f"{kills} kills")
    for problem in failed:
        print(f"FAILED: {problem}")
    return 1 if failed else 0


@contextmanager
def _server(folder: Path) -> Iterator[Bench]:
    port = free_port("127.0.0.1")
    bench = Bench(folder, f"http://127.0.0.1:{port}/api")
    call = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            call, env=bench.environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        if not wait_for_api(bench.environment["PREFECT_API_URL"], server, _PATIENCE):
            raise RuntimeError("the Prefect server did not start")
        yield bench
    finally:
        stop(server, 10)


def _retraining(week: int) -> tuple[str, ...]:
    weekly = [setting.replace('"', "") for setting in WEEKLY]  # which are written for JSON
    return ("retrain", *TINY, *weekly, f"--source.miniweb.week={week}", f"--retraining.week=2026-W{week + 1:02d}")


def made(root: Path) -> dict[str, str]:
    """Return what a root or an exported folder holds, so that two can be compared."""
    if not (root / "root.json").exists():
        return {
            str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in root.rglob("*")
            if path.is_file()
        }
    result = shards(root)
    for record in root.glob("models/*/*.json"):
        result[record.relative_to(root).as_posix()] = json.loads(record.read_text())["digest"]
    store = Store(str(root))
    for number in version_numbers(store):
        fields = asdict(read_version(store, number))
        # The time, a name that has it, and what the last run had to compute.
        for varies in ("created", "build", "computed", "settings"):
            del fields[varies]
        result[f"version {number}"] = json.dumps(fields, sort_keys=True)
    champion = read_champion(store)
    return result | {"champion": "none" if champion is None else str(champion.version)}


def differences(expected: Mapping[str, str], result: Mapping[str, str]) -> list[str]:
    """Return a message for each part that is missing, too many or different."""
    return [
        f"{name} is {'missing' if name not in result else 'not expected' if name not in expected else 'different'}"
        for name in sorted({*expected, *result})
        if expected.get(name) != result.get(name)
    ]


if __name__ == "__main__":
    command(main, __doc__)
