"""What is spent on a root, by month, and its limits: US dollars for `search` and `endpoints` (language models).

Each process that spends has a file of its own for a month, `spending/2026-11/RUN-ID.json`, sealed and replaced whole,
so that none waits for another and a kill tears none."""

import logging
import math
import re
import time
import uuid
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from storage.errors import BudgetSpentError, StorageError
from storage.sealed import seal, unseal
from storage.store import Store

FOLDER = "spending"
MONEY = ("search", "endpoints")
_SECONDS, _REMOTE_SECONDS = 1.0, 20.0  # between two looks at what others spent; a store that is asked costs money
_FILE = re.compile(r"([0-9a-f]{32})-[0-9a-f]{8}\.json")
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Account:
    """What one run spends on a root; small and picklable, for jobs."""

    root: str  # of the store
    run_dollars: float | None = None  # what it may spend; None = no limit
    month_dollars: float | None = None  # what all runs of a month may spend
    run: str = field(default_factory=lambda: uuid.uuid4().hex)  # its identifier
    began: str = field(default_factory=lambda: this_month())  # the month in which it began

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return self.run_dollars is not None or self.month_dollars is not None

    def ledger(self) -> closing["Ledger"]:
        """Open a ledger for one process, for the time of a `with` block."""
        return closing(Ledger(self))

    def spent(self, store: Store, month: str, but: str = "") -> tuple[Counter[str], Counter[str]]:
        """Return what all runs have spent in a month, and what this one has since it began, without the files `but`."""
        everybody, own = spent(store, month, self.run, but, limited=self.limited)
        year, number = map(int, self.began.split("-"))
        while (earlier := f"{year}-{number:02d}") < month:
            own.update(spent(store, earlier, self.run, but, limited=self.limited)[1])
            year, number = year + number // 12, number % 12 + 1
        return everybody, own

    def check(self, more: float, month: Mapping[str, float], run: Mapping[str, float]) -> None:
        """Raise BudgetSpentError if the month or the run, by what they have spent, would exceed a limit with `more`."""
        for name, most, amounts in (("run", self.run_dollars, run), ("month", self.month_dollars, month)):
            before = sum(amounts.values())
            if most is not None and before + more > most:
                needed = f", and {more:,.4g} more would exceed it" if more else ""
                raise BudgetSpentError(
                    f"budget.{name}_dollars is {most:,g}: {before:,.4g} are spent{needed}. What is done is kept; the "
                    "same command goes on once the budget allows"
                )


class Ledger:
    """Adds to what a run has spent; usable from many threads."""

    def __init__(self, account: Account) -> None:
        self._account, self._store, self._lock = account, Store(account.root), Lock()
        self._name = f"{account.run}-{uuid.uuid4().hex[:8]}.json"
        self._own: dict[str, Counter[str]] = {}  # by month
        self._others: tuple[Counter[str], Counter[str]] = Counter(), Counter()  # of the month, and of the run
        self._month = ""  # of these
        self._wait = _SECONDS if self._store.is_local else _REMOTE_SECONDS
        self._written = self._read = -self._wait

    def add(self, what: str, amount: float) -> None:
        """Count an amount, less than 0 for what was not needed after all. It is on disk when this returns, on an object
        store 20 s later. Raises BudgetSpentError: it would exceed a limit, and is not counted; what other processes
        spend is known a second later; StorageError: it could not be written."""
        if not amount:
            return
        with self._lock:
            month = this_month()
            own = self._own.setdefault(month, Counter())
            if amount > 0:
                self._check(month, amount)
                own[what] += amount  # type: ignore[assignment]
            changed = [month] if amount > 0 else self._take_back(what, -amount)
            if self._store.is_local or time.monotonic() - self._written >= self._wait:
                for item in changed:
                    self._write(item)

    def close(self) -> None:
        """Write what is not on an object store yet."""
        with self._lock:
            for month in () if self._store.is_local else self._own:
                self._write(month)

    def _take_back(self, what: str, amount: float) -> list[str]:
        """Take an amount off the newest months that have it, and return them: it may have been counted in another month
        than this, of which no file may hold less than nothing."""
        changed = []
        for month in sorted(self._own, reverse=True):
            part = min(amount, self._own[month][what])
            if part > 0:
                self._own[month][what] -= part  # type: ignore[assignment]
                amount -= part
                changed.append(month)
        return changed

    def _check(self, month: str, more: float) -> None:
        if not self._account.limited:
            return
        if month != self._month or time.monotonic() - self._read >= self._wait:
            self._others = self._account.spent(self._store, month, but=self._name)
            self._month, self._read = month, time.monotonic()
        everybody, run = self._others
        self._account.check(more, everybody + self._own[month], sum(self._own.values(), run))

    def _write(self, month: str) -> None:
        self._store.write_bytes(f"{FOLDER}/{month}/{self._name}", seal(self._own[month]))
        self._written = time.monotonic()


def this_month() -> str:
    """Return year and month in UTC, as in 2026-11."""
    return datetime.now(UTC).strftime("%Y-%m")


def is_spending(name: str) -> bool:
    """Whether a path below a root is that of a file of what was spent."""
    return re.fullmatch(rf"{FOLDER}/\d{{4}}-\d{{2}}/{_FILE.pattern}", name) is not None


def read_amounts(store: Store, path: str) -> dict[str, float]:
    """Return what a file says was spent. Raises ValueError: it is damaged, or an amount is none; FileNotFoundError."""
    fields = unseal(store.read_bytes(path))
    for what, amount in fields.items():
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 <= amount < math.inf:
            raise ValueError(f"it says that {amount!r} {what} were spent: expected a number of at least 0")
    return {what: float(fields.get(what, 0.0)) for what in MONEY}


def spent(
    store: Store, month: str, run: str = "", but: str = "", *, limited: bool = False
) -> tuple[Counter[str], Counter[str]]:
    """Return what all runs spent in a month, and one, without the file `but`. A damaged one counts nothing, with a
    warning; where a limit depends on it (`limited`), it is a StorageError."""
    everybody, one = Counter[str](), Counter[str]()
    for name in store.sizes(f"{FOLDER}/{month}"):
        written_by = _FILE.fullmatch(name)
        if written_by is None or name == but:
            continue
        path = f"{FOLDER}/{month}/{name}"
        try:
            amounts = read_amounts(store, path)
        except FileNotFoundError:
            continue  # deleted since it was listed
        except ValueError as error:
            if limited:
                raise StorageError(
                    f"{path} below {store.root} cannot be read ({error}), so that what is left of the budget is "
                    "unknown: restore it (wikisum restore --replace-damaged), or delete it to count nothing"
                ) from error
            _log.warning("%s cannot be read (%s): what it counted is forgotten", path, error)
            continue
        for total in (everybody, one) if written_by[1] == run else (everybody,):
            total.update(amounts)
    return everybody, one
