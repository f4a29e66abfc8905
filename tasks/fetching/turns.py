"""Turns: who may send the next request, over all shards, processes and runs.

A service, such as an archive, gets one request at a time. It sees only the address of the machine, so the machine's
processes take turns by a locked file with the earliest time of the next request.

At web sites a request takes its turn at the host, the registered domain and the addresses (`Pace`). Most of a site's
requests come from the shard of its domain. That is not enough for a second between two: a redirect leads to a domain
of another shard, and domains share addresses, which nobody knows before they are looked up. So each request takes a
turn in a table that all shards of the run share.

The table of one machine is a locked file, which several runs on it share. The workers of a Dask cluster may be on many
machines that share only an object store without locks. But all are connected to one scheduler, which runs one function
at a time, so it keeps the table. A turn costs it two calls of about a millisecond, so that a whole cluster can fetch
some hundreds of pages a second; polite crawls are slower, because of large hosts.

A request holds its turn until it has been sent, connecting included, so that a slow connection and a quick one after it
do not arrive together; the delay counts from then. A caller that has to wait gets a time to ask again, a turn later
than the caller before, so that a thousand waiting callers do not ask all the time."""

import hashlib
import os
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from tasks.fetching.safety import FetchError, Guard
from tasks.fetching.urls import DEFAULT_PORTS, registered_domain

LONGEST_WAIT = 900.0  # seconds; a later time in the file must be from a wrong clock and is ignored


@dataclass
class Turn:
    """A request's turn."""

    pause: float = 0.0  # seconds from now during which the service wants no further request


@contextmanager
def turn(service: str, delay: float) -> Iterator[Turn]:
    """Wait for the turn at a service and hold it; `delay`: seconds between two starts, at most `LONGEST_WAIT`."""
    with _locked(turns_folder() / hashlib.sha256(service.encode()).hexdigest()[:16]) as file:
        try:
            wait = float(os.pread(file, 64, 0) or b"0") - time.time()
        except ValueError:
            wait = 0.0
        if 0 < wait <= LONGEST_WAIT:
            time.sleep(wait)
        taken = Turn()
        following = time.time() + delay
        try:
            yield taken
        finally:
            os.ftruncate(file, 0)
            os.pwrite(file, f"{max(following, time.time() + taken.pause):.3f}".encode(), 0)


def own_turns(delay: float) -> Callable[[], AbstractContextManager[Turn]]:
    """Return what waits for a turn in the same way, for the requests of one client, sent by one thread."""
    next_start = 0.0

    @contextmanager
    def own_turn() -> Iterator[Turn]:
        nonlocal next_start
        time.sleep(max(0.0, next_start - time.monotonic()))
        taken, following = Turn(), time.monotonic() + delay
        try:
            yield taken
        finally:
            next_start = max(following, time.monotonic() + taken.pause)

    return own_turn


def turns_folder() -> Path:
    """Return the folder of all turns of this user on this machine. Raises PermissionError: another user owns it."""
    folder = Path(tempfile.gettempdir()) / f"wikisum-turns-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user; expected a folder of our own")
    return folder


# Maximum time to connect and send: after it, others may continue, because the holder may have been killed. An address
# has ten seconds to accept a connection.
HOLD_SECONDS = 15.0
# Waiting callers ask again within so many turns, so that the places of killed crawls delay nobody for long.
LONGEST_LINE = 60
_SOON = 0.25  # of the delay: a caller that waits no longer than this needs no place in the line
_LATEST = 3_600.0  # seconds; a later time in a file is from before the machine's last start and is ignored

# Time from which a turn may be taken, and time of the next place in the waiting line; monotonic seconds.
State = tuple[float, float]
_FREE: State = (0.0, 0.0)


def take(states: Sequence[State], delays: Sequence[float], now: float) -> tuple[float, list[State]]:
    """Take a turn at all places or none; return 0, or the seconds after which to ask again, and the states then."""
    wait = max(free_at for free_at, _ in states) - now
    if wait <= 0:
        return 0.0, [(now + HOLD_SECONDS, line) for _, line in states]
    if wait <= _SOON * min(delays):
        return wait, list(states)
    changed, come = [], now
    for (free_at, line), delay in zip(states, delays, strict=True):
        if free_at > now:
            place = max(line, min(free_at, now + delay))  # a holder usually gives its turn back at once
            come, line = max(come, place), min(place + delay, now + LONGEST_LINE * delay)
        changed.append((free_at, line))
    return come - now, changed


class MemoryTurns:
    """Turns in the memory of one process, for one thread at a time. Places are any names."""

    def __init__(self, kept: int = 100_000) -> None:
        """Set up an empty table that keeps so many places, some 20 MB, before it removes those where nobody waits."""
        self._states: dict[str, State] = {}
        self._kept = self._most = kept

    def take(self, delays: Mapping[str, float]) -> float:
        """Take a turn at places with their delays (seconds); return 0, or the seconds after which to ask again."""
        now = time.monotonic()
        wait, states = take([self._states.get(place, _FREE) for place in delays], list(delays.values()), now)
        self._states.update(zip(delays, states, strict=True))
        if len(self._states) > self._most:
            self._states = {place: state for place, state in self._states.items() if max(state) > now}
            self._most = max(self._kept, 2 * len(self._states))
        return wait

    def give(self, delays: Mapping[str, float]) -> None:
        """Give a turn back: the next one at each place may be taken after that many seconds."""
        now = time.monotonic()
        for place, delay in delays.items():
            self._states[place] = now + delay, self._states.get(place, _FREE)[1]


class MachineTurns:
    """Turns of all processes and runs of this user on this machine, in a locked file."""

    # Places share entries of the file by their hash. With some thousands of places in use, one in a hundred shares its
    # entry with another one in use, and is asked less often than it might be.
    _ENTRIES = 1 << 18
    _ENTRY = struct.Struct("<dd")

    def __init__(self, folder: Path | None = None) -> None:
        """Take the folder of the file; None = that of all this user's runs. Raises PermissionError: it is another's."""
        self._path = (folder or turns_folder()) / "sites"

    def take(self, delays: Mapping[str, float]) -> float:
        """Take a turn (`MemoryTurns.take`)."""
        entries = [self._entry(place) for place in delays]
        with _locked(self._path) as file:
            now = time.monotonic()
            wait, states = take([self._read(file, entry, now) for entry in entries], list(delays.values()), now)
            for entry, state in zip(entries, states, strict=True):
                self._write(file, entry, state)
        return wait

    def give(self, delays: Mapping[str, float]) -> None:
        """Give a turn back (`MemoryTurns.give`)."""
        with _locked(self._path) as file:
            now = time.monotonic()
            for place, delay in delays.items():
                entry = self._entry(place)
                self._write(file, entry, (now + delay, self._read(file, entry, now)[1]))

    def _entry(self, place: str) -> int:
        return int.from_bytes(hashlib.sha256(place.encode()).digest()[:8]) % self._ENTRIES * self._ENTRY.size

    def _read(self, file: int, entry: int, now: float) -> State:
        data = os.pread(file, self._ENTRY.size, entry)
        if len(data) < self._ENTRY.size:
            return _FREE
        free_at, line = self._ENTRY.unpack(data)
        return (free_at, line) if free_at <= now + _LATEST and line <= now + _LATEST else _FREE

    def _write(self, file: int, entry: int, state: State) -> None:
        os.pwrite(file, self._ENTRY.pack(*state), entry)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open a file that no other thread or process has while the block runs; its descriptor."""
    import fcntl  # here, because only POSIX systems have it

    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


class DaskTurns:
    """Turns of all workers of a Dask cluster, kept by its scheduler, which must have this package as they do."""

    def __init__(self, client: Any) -> None:
        self._client = client
        client.run_on_scheduler(_keep_turns)

    def take(self, delays: Mapping[str, float]) -> float:
        """Take a turn (`MemoryTurns.take`)."""
        return float(self._client.sync(self._client.scheduler.wikisum_take_turn, delays=dict(delays)))

    def give(self, delays: Mapping[str, float]) -> None:
        """Give a turn back (`MemoryTurns.give`)."""
        self._client.sync(self._client.scheduler.wikisum_give_turn, delays=dict(delays))


def _keep_turns(dask_scheduler: Any = None) -> None:
    """Add two calls to a scheduler: `run_on_scheduler` itself would log a line for each turn of each request."""
    turns: MemoryTurns = dask_scheduler.extensions.setdefault("wikisum-turns", MemoryTurns())
    dask_scheduler.handlers.update(wikisum_take_turn=turns.take, wikisum_give_turn=turns.give)


Turns = MemoryTurns | MachineTurns | DaskTurns


def shared_turns() -> Turns:
    """Return the turns shared by all shards of the run; to be called in the thread that Dask or Prefect called."""
    distributed = sys.modules.get("distributed")  # a worker of Dask has imported it
    if distributed is not None:
        with suppress(ValueError):  # this thread is not a worker's
            distributed.get_worker()
            return DaskTurns(distributed.get_client())
    return MachineTurns()


# Share of a domain's delay. One address of a content network or a hosting company may serve thousands of domains and
# thousands of requests a second: at a domain's own delay they would wait for each other for months. The address of a
# small server serves a few domains. Each of them gets requests at its own delay at most, and all together ten times as
# often. Lists of networks, or counts of the domains at an address, would have to be kept up to date.
ADDRESS_SHARE = 0.1


class Pace:
    """Takes turns for requests."""

    def __init__(self, turns: Turns, guard: Guard, delay: float) -> None:
        """Start; `delay` is that of a registered domain, of an address it is `ADDRESS_SHARE` of that."""
        self._turns = turns
        self._guard = guard
        self._delay = delay

    def turn(self, url: str, host_delay: float) -> "RequestTurn":
        """Return the turn of a request, or when to ask again; `host_delay` is what robots.txt or settings say."""
        parts = urlsplit(url)
        delays = {f"host {parts.netloc}": host_delay} if host_delay else {}
        if self._delay:
            delays[f"domain {registered_domain(parts.netloc)}"] = self._delay
            port = parts.port or DEFAULT_PORTS[parts.scheme]
            try:
                addresses = self._guard.own_addresses(parts.hostname or "", port)
            except FetchError as fault:
                return RequestTurn(self._turns, self._guard, {}, fault=fault)  # the request will not be sent
            delays |= {f"address {address}": ADDRESS_SHARE * self._delay for address in addresses}
        wait = self._turns.take(delays) if delays else 0.0
        return RequestTurn(self._turns, self._guard, delays, wait=wait)


@dataclass
class RequestTurn:
    """The turn of one request; a context manager around it, if there is nothing to wait for."""

    turns: Turns  # where it is taken
    guard: Guard  # which knows when the request has been sent
    delays: Mapping[str, float]  # the places where it is taken, with their delays in seconds
    wait: float = 0.0  # seconds after which to ask again; 0 = the turn is taken
    fault: FetchError | None = None  # fault known before the request, which is then not sent, or None
    # monotonic time when the request had been sent, or its turn was given back unused; None without a delay
    sent: float | None = None

    def __enter__(self) -> Self:
        assert not self.wait
        if self.delays:
            self.guard.current.on_sent = self._give
        return self

    def __exit__(self, *_: object) -> None:
        self.guard.current.on_sent = None
        if self.delays and self.sent is None:
            self._give()

    def _give(self) -> None:
        self.turns.give(self.delays)
        self.sent = time.monotonic()

    def pause(self, seconds: float) -> None:
        """Delay the next request to the host, of any shard, by that many seconds."""
        if seconds and self.delays:
            self.turns.give({place: seconds for place in self.delays if place.startswith("host ")})
