"""How far a crawl is: numbers for a terminal line or a progress artifact."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class CrawlProgress:
    """A crawl at one moment.

    Attributes:
        done: URLs that have their row, those of an earlier run included.
        total: URLs of the shard.
        ok: rows of this run with a body.
        failed: rows of this run by reason.
        bytes: decoded body bytes of this run.
        pages_per_second: rows of this run per second.
        remaining_seconds: time left at this rate, or None before the first row.
    """

    done: int
    total: int
    ok: int = 0
    failed: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    bytes: int = 0
    pages_per_second: float = 0.0
    remaining_seconds: float | None = None

    @property
    def share(self) -> float:
        """Done, 0-1."""
        return self.done / self.total if self.total else 1.0

    def __str__(self) -> str:
        failed = ", ".join(f"{reason} {count:,}" for reason, count in sorted(self.failed.items(), key=lambda f: -f[1]))
        left = "" if self.remaining_seconds is None else f", about {self.remaining_seconds:,.0f} s left"
        return (
            f"{self.done:,} of {self.total:,} URLs, {self.pages_per_second:.0f} a second, {self.bytes / 1e6:.1f} MB"
            f"{left}{f'; {failed}' if failed else ''}"
        )


class ProgressCount:
    """Counts rows and reports about once a second."""

    def __init__(self, done: int, total: int, report: Callable[[CrawlProgress], None], every: float = 1.0) -> None:
        self._before = done
        self._total = total
        self._report = report
        self._every = every
        self._rows = 0
        self._ok = 0
        self._bytes = 0
        self._failed: Counter[str] = Counter()
        self._started = self._reported = time.monotonic()

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row of `pages`."""
        self._rows += 1
        self._bytes += row["bytes"] or 0
        if row["reason"] is None:
            self._ok += 1
        else:
            self._failed[row["reason"]] += 1

    @property
    def rows(self) -> int:
        """Rows counted."""
        return self._rows

    @property
    def bytes(self) -> int:
        """Body bytes counted."""
        return self._bytes

    @property
    def seconds(self) -> float:
        """Time since the count began."""
        return time.monotonic() - self._started

    def tick(self, *, last: bool = False) -> None:
        """Report, if it is time to or this is the last report."""
        now = time.monotonic()
        if not last and now - self._reported < self._every:
            return
        self._reported = now
        rate = self._rows / max(now - self._started, 1e-9)
        done = self._before + self._rows
        self._report(
            CrawlProgress(
                done=done,
                total=self._total,
                ok=self._ok,
                failed=MappingProxyType(dict(self._failed)),
                bytes=self._bytes,
                pages_per_second=rate,
                remaining_seconds=(self._total - done) / rate if self._rows else None,
            )
        )
