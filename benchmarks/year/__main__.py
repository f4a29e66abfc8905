"""A year in an hour: weekly retraining of a web that grows and changes, with faults drawn by seed.

    python -m benchmarks.year FOLDER [--weeks 52] [--seed 1] [--growth .02] [--minutes 60]

Prefect's server, a worker and the alarms run as `wikisum serve` runs them. Each week is a run of the deployment
`retrain`, at the smallest size of models and texts, followed by `prune` and `backup`. Two weeks of three have a fault:
run or machine is killed, a pointer is lost, the disk is full, the clock goes back. Or two schedules overlap, the
backup is damaged, the database is lost. The code is upgraded in the middle. A row a week says the fault, the verdict,
what was said, and the bytes of root, backup and database. These are checked at the end:

* every week has its version, and the next one started from the champion;
* no version was promoted without a test, but the first;
* each run that ended badly has exactly one alarm;
* root and backup are bounded: the last week needs, per topic, at most 1.5 times the largest of weeks five to ten.

The exit status is 1 if a check fails. It needs the right to mount a small file system, and a C compiler."""

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.frame import command
from benchmarks.tiny_runs import small_disk
from benchmarks.webhook import receiving
from benchmarks.year.faults import DISK_MEGABYTES, FAULTS, Year, nothing, upgrade
from benchmarks.year.fleet import Fleet, label
from storage.registry import Version, read_version, version_numbers

TOPICS = 48  # in the first week
_HEAD = "| week | fault | verdict | said | root MB | backup MB | database MB | s |\n|---|---|---|---|---|---|---|---|"
_SHOWN = 300  # characters of what was said


@dataclass(frozen=True)
class Week:
    """The result of a week."""

    number: int
    fault: str
    version: Version
    said: str
    bytes: tuple[int, int, int]  # of root, backup, database
    seconds: float

    def row(self) -> str:
        """Return it as a row of a Markdown table."""
        verdict = self.version.verdict
        sizes = " | ".join(f"{size / 1e6:.1f}" for size in self.bytes)
        outcome = "promoted" if verdict["promoted"] else "refused"
        said = self.said.replace("|", "/")[:_SHOWN]
        return f"| {label(self.number)} | {self.fault} | {outcome} | {said} | {sizes} | {self.seconds:.0f} |"


def main(folder: Path, weeks: int = 52, seed: int = 1, growth: float = 0.02, minutes: float = 60) -> int:
    """Run the weeks, or as many as begin within so many minutes, and print a row each; return the exit code."""
    folder = folder.absolute()
    folder.mkdir(parents=True)
    done: list[Week] = []
    started = time.monotonic()
    print(_HEAD)
    with ExitStack() as stack:
        stack.enter_context(small_disk(folder / "disk", DISK_MEGABYTES))
        webhook = stack.enter_context(receiving())
        with Fleet(folder, os.environ, webhook, growth) as fleet:
            year = Year(fleet, folder, Random(seed))
            for number, fault in enumerate(plan(weeks, year.random)):
                if time.monotonic() - started > 60 * minutes:
                    print(f"{weeks - number} weeks are left out after {minutes:.0f} minutes")
                    break
                done.append(run_week(year, number, fault))
                print(done[-1].row(), flush=True)
            fleet.wait_for_alarms()
            failed = [
                *problems(done, growth),
                *alarm_problems(fleet),
                *registry_problems(fleet, len(done)),
                *year.unexpected,
            ]
            print(f"alarms: {len(fleet.expected)} of runs that ended badly; others: {fleet.other_alarms()}")
            tables = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in fleet.database_rows().items())
            print(f"database, MB: {tables}")
    for problem in failed:
        print(f"FAILED: {problem}")
    return 1 if failed else 0


def plan(weeks: int, random: Random) -> list[str]:
    """Return the fault of each week, "" for none: two weeks of three have one, each kind as often as another. The first
    two weeks have none, and the middle one has the upgrade."""
    faults = list[str]()
    kinds = list[str]()
    for number in range(weeks):
        if number == weeks // 2:
            faults.append("upgrade")
        elif number < 2 or number % 3 == 0:
            faults.append("")
        else:
            if not kinds:
                kinds = random.sample(sorted(FAULTS), len(FAULTS))
            faults.append(kinds.pop())
    return faults


def run_week(year: Year, number: int, fault: str) -> Week:
    """Run a week with its fault, and the upkeep after it."""
    started = time.monotonic()
    happens = {"": nothing, "upgrade": upgrade, **FAULTS}[fault]
    _, said = happens(year, number)
    year.fleet.keep_up()
    version = read_version(year.fleet.store, max(version_numbers(year.fleet.store)))
    if version.label != label(number):
        raise RuntimeError(f"the newest version is of {version.label}, expected {label(number)}")
    return Week(number, fault, version, said, year.fleet.bytes(), time.monotonic() - started)


def problems(weeks: list[Week], growth: float) -> list[str]:
    """Return a message for each check of the weeks' versions and sizes that fails."""
    complaints, champion = [], None
    for week in weeks:
        version, verdict = week.version, week.version.verdict
        if version.parent != champion:
            complaints.append(f"{version.label} started from version {version.parent}, expected {champion}")
        if verdict["promoted"] and version.parent is not None and not verdict["findings"]:
            complaints.append(f"{version.label} was promoted without a test")
        champion = version.number if verdict["promoted"] else champion
    if len(weeks) > 10:
        for name, index in (("root", 0), ("backup", 1)):
            each = [week.bytes[index] / (TOPICS * (1 + growth * week.number)) for week in weeks]
            if each[-1] > (most := 1.5 * max(each[4:10])):
                complaints.append(f"the {name} has {each[-1]:,.0f} bytes per topic, expected at most {most:,.0f}")
    return complaints


def alarm_problems(fleet: Fleet) -> list[str]:
    """Return a message for each run that ended badly without exactly one alarm."""
    alarms = {run.name: fleet.alarms(run) for run in fleet.expected}
    return [f"run {name} had {len(texts)} alarms: {texts}" for name, texts in alarms.items() if len(texts) != 1]


def registry_problems(fleet: Fleet, weeks: int) -> list[str]:
    """Return a message if the registry does not have one version a week."""
    expected = list(range(1, weeks + 1))
    numbers = sorted(version_numbers(fleet.store))
    return [] if numbers == expected else [f"the registry has versions {numbers}, expected {expected}"]


if __name__ == "__main__":
    command(main, __doc__)
