"""What happens in a week of the year. Each fault returns the run that made the week's version, and what was said."""

import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from prefect.client.schemas.objects import FlowRun

from benchmarks.tiny_runs import PROJECT, preloaded, resize, used_kilobytes
from benchmarks.year.fleet import Fleet
from flows.backup import checked, restore
from flows.verify import verify_root
from storage.errors import StorageError
from storage.generations import object_path, read_generations
from storage.inventory import CHAMPION, LATEST
from storage.recipes import read_record
from storage.store import Store

DISK_MEGABYTES = 4096
UPGRADED = "features"  # the stage whose version the new code raises
_DAY = 86_400
_ROOMS = ("flows", "models", "storage", "tasks")
Outcome = tuple[FlowRun, str]


class Year:
    """What the faults of a year share."""

    def __init__(self, fleet: Fleet, folder: Path, random: Random) -> None:
        self.fleet, self.folder, self.random = fleet, folder, random
        self.usual = 20.0  # seconds of a run, after its process has begun to work
        self.unexpected: list[str] = []  # what should not have happened

    @property
    def moment(self) -> float:
        """A moment in a run, in seconds."""
        return self.random.uniform(0.0, 0.9) * self.usual


def nothing(year: Year, week: int) -> Outcome:
    """Run the week."""
    run = year.fleet.start_week(week)
    year.fleet.wait_for_process(run)
    started = time.monotonic()
    if year.fleet.finish(run) != "COMPLETED":
        said = f"a run without fault was not completed: {year.fleet.message(run)}"
        year.unexpected.append(said)
        return year.fleet.again(week)[0], said
    year.usual = time.monotonic() - started
    return run, ""


def kill(year: Year, week: int) -> Outcome:
    """Kill the run (SIGKILL) at some moment, and start it again."""
    return _stopped(year, week, signal.SIGKILL)


def terminate(year: Year, week: int) -> Outcome:
    """Stop the run (SIGTERM) at some moment, and start it again."""
    return _stopped(year, week, signal.SIGTERM)


def _stopped(year: Year, week: int, number: signal.Signals) -> Outcome:
    fleet, moment = year.fleet, year.moment
    run = fleet.start_week(week)
    members = fleet.wait_for_process(run)
    time.sleep(moment)
    for member in members:
        if member.is_running():
            member.send_signal(number)
    return _continued(year, week, run, fleet.finish(run), f"after {moment:.1f} s")


def _continued(year: Year, week: int, run: FlowRun, state: str, what: str) -> Outcome:
    """Return a disturbed run that has ended, or run the week again if it was not completed."""
    said = f"{what}: {state}, {year.fleet.message(run)}"
    return (run, said) if state == "COMPLETED" else (year.fleet.again(week)[0], said)


def lose_machine(year: Year, week: int) -> Outcome:
    """Kill worker and run at once, so that only the missing heartbeat says it."""
    fleet, moment = year.fleet, year.moment
    run = fleet.start_week(week)
    fleet.wait_for_process(run)
    time.sleep(moment)
    fleet.lose_machine()
    return _continued(year, week, run, fleet.finish(run), f"after {moment:.1f} s")


def lose_latest(year: Year, week: int) -> Outcome:
    """Delete the pointer to the latest build, and restore it from the backup if the run asks for that."""
    return _lost(year, week, LATEST)


def lose_champion(year: Year, week: int) -> Outcome:
    """Delete the pointer to the champion; `verify` writes it again."""
    return _lost(year, week, CHAMPION)


def _lost(year: Year, week: int, name: str) -> Outcome:
    fleet = year.fleet
    fleet.store.delete(name)
    run = fleet.start_week(week)
    if fleet.finish(run) == "COMPLETED":
        return run, "it went on"
    said = fleet.message(run)
    verify_root(str(fleet.root), dry_run=False)
    mended = "verify"
    if not fleet.store.exists(name):
        restore(str(fleet.root), str(fleet.copy))
        mended = "restore"
    return fleet.again(week)[0], f"{said}; mended by {mended}"


def fill_disk(year: Year, week: int) -> Outcome:
    """Leave little room on the root's disk, and then room again."""
    fleet, disk = year.fleet, year.folder / "disk"
    left = year.random.randrange(16, 800)
    resize(disk, used_kilobytes(disk) + left)
    run = fleet.start_week(week)
    state = fleet.finish(run)
    resize(disk, DISK_MEGABYTES << 10)
    return _continued(year, week, run, state, f"{left} KB left")


def lose_database(year: Year, week: int) -> Outcome:
    """Start server and worker again with an empty database."""
    year.fleet.wait_for_alarms()  # the lost server would have sent them
    year.fleet.lose_database()
    return nothing(year, week)[0], "runs and artifacts of earlier weeks are gone"


def turn_back_clock(year: Year, week: int) -> Outcome:
    """Let the run's time of day go back by a day after some seconds."""
    after = year.moment
    clock = {
        "LD_PRELOAD": str(preloaded("jumping_clock", year.folder)),
        "JUMP_AT": str(int(time.monotonic() + after)),
        "JUMP_BY": str(-_DAY),
    }
    run = year.fleet.start_week(week, clock)
    return _continued(year, week, run, year.fleet.finish(run), f"a day back, {after:.0f} s after the start")


def upgrade(year: Year, week: int) -> Outcome:
    """From now on run a copy of the code in which a stage has a higher version."""
    code = year.folder / "new-code"
    for room in _ROOMS:
        shutil.copytree(PROJECT / room, code / room, ignore=shutil.ignore_patterns("__pycache__"))
    schemas = code / "storage" / "schemas.toml"
    lines = schemas.read_text(encoding="utf-8").splitlines()
    begins = lines.index(f"[{UPGRADED}]")
    number = next(i for i in range(begins + 1, len(lines)) if lines[i].startswith(("version", "[")))
    if lines[number].startswith("version"):
        lines[number] = f"version = {int(lines[number].partition('=')[2]) + 1}"
    else:
        lines.insert(begins + 1, "version = 2")
    schemas.write_text("\n".join(lines) + "\n", encoding="utf-8")
    before = _version(year.fleet)
    year.fleet.code = {"PYTHONPATH": str(code)}
    run, _ = nothing(year, week)
    said = f"version of {UPGRADED} {before} -> {(now := _version(year.fleet))}"
    if now != before + 1:
        year.unexpected.append(f"the upgrade: {said}")
    return run, said


def _version(fleet: Fleet) -> int:
    """Return the version of the stage in its newest record."""
    infos = fleet.store.infos(UPGRADED)
    newest = max((name for name in infos if name.endswith(".json")), key=lambda name: infos[name].mtime_ns)
    return read_record(fleet.store, f"{UPGRADED}/{newest}").version


def overlap(year: Year, week: int) -> Outcome:
    """Start the week twice at once, as two schedules would."""
    fleet = year.fleet
    runs = [fleet.start_week(week) for _ in range(2)]
    states = [fleet.finish(run) for run in runs]
    if "COMPLETED" not in states:
        raise RuntimeError(f"two runs at once ended as {states}")
    others = [f"{state}, {fleet.message(run)}" for run, state in zip(runs, states, strict=True) if state != "COMPLETED"]
    return runs[states.index("COMPLETED")], f"two runs at once: {'; '.join(others) or 'both completed'}"


def damage_backup(year: Year, week: int) -> Outcome:
    """Flip a bit in a file of the backup: its check finds it, and the next backup copies the file again. Then lose the
    newest version of the models in the root, and restore it."""
    fleet = year.fleet
    generations, _ = read_generations(Store(str(fleet.copy)))
    newest = sorted(set(generations[max(generations)].files.values()))  # the root has these too
    file = fleet.copy / object_path(year.random.choice(newest))
    data = bytearray(file.read_bytes())
    data[year.random.randrange(len(data))] ^= 1
    file.write_bytes(data)
    try:
        checked(str(fleet.copy))
    except StorageError as error:
        found = next(line for line in str(error).splitlines() if "files/" in line)
    else:
        found = f"{file.name} was damaged and passed the check"
        year.unexpected.append(found)
    fleet.keep_up()
    checked(str(fleet.copy))
    lost = sorted(fleet.store.sizes("registry/versions"))[-1]
    fleet.store.delete(f"registry/versions/{lost}")
    run = fleet.start_week(week)
    if fleet.finish(run) == "COMPLETED":
        year.unexpected.append(f"version {lost} was lost and retraining went on")
    said = fleet.message(run)
    restore(str(fleet.root), str(fleet.copy))
    return fleet.again(week)[0], f"backup: {found}; root: {said}; mended by restore"


FAULTS: dict[str, Callable[[Year, int], Outcome]] = {
    "kill -9": kill,
    "SIGTERM": terminate,
    "no latest": lose_latest,
    "no champion": lose_champion,
    "full disk": fill_disk,
    "clock back": turn_back_clock,
    "two runs": overlap,
    "damaged backup": damage_backup,
    "machine dies": lose_machine,
    "empty database": lose_database,
}
