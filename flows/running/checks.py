"""What `wikisum serve` looks at each hour, and `wikisum doctor` when it is asked: a root, its backup and the server."""

import asyncio
import hashlib
import logging
import os
import socket
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterId,
    FlowRunFilter,
    FlowRunFilterStartTime,
    FlowRunFilterState,
    FlowRunFilterStateName,
)
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.server.schemas.schedules import SCHEDULE_TYPES
from prefect.settings import get_current_settings
from pydantic import TypeAdapter
from sqlalchemy import make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from flows.running.faults import LARGE_DATABASE, LOST_FILES, MISSED_SCHEDULE, OLD_BACKUP, Fault, full_disk
from storage.errors import StorageError
from storage.generations import read_generations
from storage.inventory import check_format, check_whole, read_inventory
from storage.store import Store

DATABASE_BYTES = 2 << 30  # the smallest builds add 4 MB a week
UNSAVED = timedelta(days=8)  # a backup is made each week
MISSED = timedelta(days=1)
BACKUP = "WIKISUM_BACKUP"  # environment variable: folder or URI of the backup
_SECONDS = 3600.0  # between two looks
_FAILURES = (StorageError, OSError, httpx.HTTPError, PrefectException, SQLAlchemyError)
_log = logging.getLogger(__name__)


def root_faults(store: Store) -> Iterator[Fault]:
    """Yield the faults of a root, and of its backup if the environment names one."""
    yield from _lost_files(store)
    yield from full_disk(store)
    if backup := os.environ.get(BACKUP):
        yield from _old_backup(store, backup)


def missed_schedules(names: Collection[str]) -> Iterator[Fault]:
    """Yield which deployments had to run by their schedules and did not, on the server of Prefect's settings. Raises
    what Prefect's client raises."""
    with get_client(sync_client=True) as client:
        for name in names:
            yield from _missed_schedule(client, name)


def large_database(url: str | None) -> Iterator[Fault]:
    """Yield a fault if the database at a URL, None for that of Prefect's settings, is large. Raises OSError or
    SQLAlchemyError: it does not answer."""
    if url is None:
        settings = get_current_settings()
        secret = settings.server.database.connection_url
        url = secret.get_secret_value() if secret else f"sqlite+aiosqlite:///{settings.home}/prefect.db"
    database = make_url(url)
    if database.drivername.startswith("sqlite"):
        file = Path(database.database or "")
        size = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))
    else:
        size = asyncio.run(_bytes_of(url))
    if size > DATABASE_BYTES:
        said = f"{database.render_as_string()} has {size / 1e9:,.1f} GB, expected at most {DATABASE_BYTES / 1e9:,.1f}"
        yield Fault(LARGE_DATABASE, socket.gethostname(), f"the database of Prefect {said}: delete old runs and events")


async def _bytes_of(url: str) -> int:
    engine = create_async_engine(url)
    try:
        async with engine.connect() as connection:
            size = await connection.scalar(text("SELECT pg_database_size(current_database())"))
    finally:
        await engine.dispose()
    return int(size or 0)


def _lost_files(store: Store) -> Iterator[Fault]:
    """Yield a fault if files that the root's inventory lists are gone; others that are gone later are another fault."""
    try:
        check_format(store)
        check_whole(store)
    except StorageError as error:
        digest = hashlib.sha256(str(error).encode()).hexdigest()
        yield Fault(LOST_FILES, f"{store.base}.{digest[:16]}", str(error))


def _old_backup(store: Store, backup: str) -> Iterator[Fault]:
    """Yield a fault if the newest generation has for long lacked something that the root's inventory lists."""
    try:
        inventory, (generations, _) = read_inventory(store), read_generations(Store(backup))
        newest = max(generations, default=None)
        saved = generations[newest].files if newest else {}
        listed = [] if inventory is None else [name for name, why in inventory.files.items() if not why]
        times = [time for name in listed if name not in saved and (time := _made(store, name)) is not None]
    except StorageError as error:
        yield Fault(OLD_BACKUP, store.base, f"the age of the backup {backup} is unknown: {error}")
        return
    if times and datetime.now(UTC) - min(times) > UNSAVED:
        has = f"whose newest generation is {newest}" if newest else "which has no generation"
        lacks = f"{len(times)} files of {store.root} since {min(times):%Y-%m-%d}"
        yield Fault(OLD_BACKUP, store.base, f"the backup {backup}, {has}, lacks {lacks}: wikisum backup")


def _made(store: Store, name: str) -> datetime | None:
    """Return when a file was written; None: it is gone."""
    folder, _, file = name.rpartition("/")
    info = store.infos(folder).get(file)
    return None if info is None else info.mtime.astimezone(UTC)


def _missed_schedule(client: SyncPrefectClient, name: str) -> Iterator[Fault]:
    """Yield a fault if a deployment was due by its schedule, and no run of it has started. A late run has an alarm."""
    try:
        deployment = client.read_deployment_by_name(f"{name}/{name}")
    except ObjectNotFound:
        return
    of_it = DeploymentFilter(id=DeploymentFilterId(any_=[deployment.id]))
    late = FlowRunFilter(state=FlowRunFilterState(name=FlowRunFilterStateName(any_=["Late"])))
    if client.read_flow_runs(deployment_filter=of_it, flow_run_filter=late, limit=1):
        return
    begun = FlowRunFilter(start_time=FlowRunFilterStartTime(is_null_=False))
    newest = FlowRunSort.START_TIME_DESC
    runs = client.read_flow_runs(deployment_filter=of_it, flow_run_filter=begun, sort=newest, limit=1)
    since = runs[0].start_time if runs else deployment.created
    assert since is not None, "the server sets both"
    due = _first_after(deployment, since)
    if due is None or datetime.now(UTC) - due < MISSED:
        return
    paused = deployment.paused or not any(schedule.active for schedule in deployment.schedules)
    why = "its schedule is paused" if paused else "was the server down then, or another run going on?"
    last = f"its last run started {since:%Y-%m-%d %H:%M}" if runs else "it has never run"
    yield Fault(MISSED_SCHEDULE, name, f"{name} was due {due:%Y-%m-%d %H:%M} UTC and did not run; {last}; {why}")


def _first_after(deployment: DeploymentResponse, since: datetime) -> datetime | None:
    """Return the first time after another at which a deployment's schedules want a run; None: it has no schedule."""
    dates = list[datetime]()
    for schedule in deployment.schedules:
        # The client's schedules have no dates.
        plan = TypeAdapter(SCHEDULE_TYPES).validate_python(schedule.schedule.model_dump())
        dates += asyncio.run(plan.get_dates(1, start=since))
    return min((date.astimezone(UTC) for date in dates), default=None)


@contextmanager
def watching(find: Callable[[], Iterable[Fault]]) -> Iterator[None]:
    """Emit the events of faults at once and then each hour, until the block ends."""
    ended = Event()

    def watch() -> None:
        while not ended.is_set():
            try:
                for fault in find():
                    fault.emit()
            except _FAILURES as error:
                _log.warning("looking for faults failed: %s", error)
            ended.wait(_SECONDS)

    thread = Thread(target=watch, name="faults", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
