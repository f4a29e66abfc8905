"""Faults that end no run: each is an event for an alarm of the server, and a line of `wikisum doctor`.

Runs look at the disk and at what was promoted; `wikisum serve` looks at everything (`flows.running.checks`)."""

import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from prefect.events import emit_event

from storage.errors import DamagedFieldsError
from storage.registry import read_champion, read_version, version_numbers
from storage.store import Store

FULL = 0.9  # share of a disk
MESSAGE_CHARACTERS = 2000  # chat services reject long ones
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)


@dataclass(frozen=True)
class FaultKind:
    """A kind of faults."""

    event: str  # that Prefect's server waits for
    alarm: str  # its name in the list of alarms
    subject: str  # of its message
    again: timedelta  # while a fault lasts, its alarm is repeated after this time


FULL_DISK = FaultKind("wikisum.disk.full", "a disk is nearly full", "disk", _DAY)
LARGE_DATABASE = FaultKind("wikisum.database.large", "the database is large", "database", _WEEK)
OLD_BACKUP = FaultKind("wikisum.backup.old", "the backup is old", "backup", _WEEK)
LOST_FILES = FaultKind("wikisum.inventory.mismatch", "the root lacks files", "inventory", _WEEK)
MISSED_SCHEDULE = FaultKind("wikisum.schedule.missed", "a schedule has not run", "schedule", _WEEK)
UNPROMOTED = FaultKind("wikisum.retraining.unpromoted", "no promotion for weeks", "no promotion", _WEEK)
GUARDED = FaultKind("wikisum.retraining.guarded", "a guard refused a version", "a guard", _WEEK)
KINDS = (UNPROMOTED, GUARDED, FULL_DISK, LARGE_DATABASE, OLD_BACKUP, LOST_FILES, MISSED_SCHEDULE)


@dataclass(frozen=True)
class Fault:
    """A fault."""

    kind: FaultKind
    of: str  # the server raises one alarm for it, and not another for each time that it is seen
    text: str

    def emit(self) -> None:
        """Emit its event, for the server's alarm."""
        resource = {"prefect.resource.id": f"wikisum.{self.kind.subject.replace(' ', '-')}.{self.of}"}
        emit_event(self.kind.event, resource, payload={"text": self.text[:MESSAGE_CHARACTERS]})


def full_disk(store: Store) -> Iterator[Fault]:
    """Yield a fault if a local root's disk is nearly full."""
    if not store.is_local or not Path(store.base).exists():
        return
    disk = shutil.disk_usage(store.base)
    share = disk.used / (disk.used + disk.free)  # as `df`: space that is reserved for the system does not count
    if share > FULL:
        host = socket.gethostname()
        left = f"{100 * share:.0f} % full, {disk.free / 1e9:,.1f} GB are left"
        yield Fault(FULL_DISK, f"{host}.{store.base}", f"the disk of {store.root} on {host} is {left}")


def report_full_disk(store: Store) -> None:
    """Emit an event if a local root's disk is nearly full."""
    for fault in full_disk(store):
        fault.emit()


def report_refused(store: Store, weeks: int) -> None:
    """Emit events: the last `weeks` versions or more, one a week, were refused, with the reasons of as many; the newest
    was refused by a guard though it was better, or could not be judged."""
    champion, refused = read_champion(store), []
    for number in reversed(version_numbers(store)):
        try:
            version = read_version(store, number)
        except DamagedFieldsError:  # retraining has warned of it
            continue
        if version.verdict["promoted"] or (champion is not None and number == champion.version):
            break
        refused.append(f"version {number}: {version.verdict['reason']}")
        if len(refused) == 1 and version.verdict.get("guarded"):
            Fault(GUARDED, f"{store.base}.{number}", f"a guard refused {refused[0]}, below {store.root}").emit()
    if len(refused) >= weeks:
        said = f"{len(refused)} weeks without a promotion below {store.root}. {'. '.join(refused[:weeks])}"
        Fault(UNPROMOTED, f"{store.base}.{max(version_numbers(store))}", said).emit()
