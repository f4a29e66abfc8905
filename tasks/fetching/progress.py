"""The progress of a crawl, for a terminal line or a progress artifact."""

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from storage.recipes import most_first

_WINDOW_SECONDS, _EVERY_SECONDS = 30.0, 1.0  # of the rate; between two reports


@dataclass
class CrawlProgress:
    """A crawl at one moment."""

    done: int  # URLs with a row, including those of an earlier run
    total: int  # URLs of the shard
    ok: int = 0  # rows of this run with a body
    confirmed: int = 0  # those of them whose body is from an earlier crawl and was confirmed by the server
    # failed rows of this run by reason, including those that keep the body of an earlier crawl
    failed: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0  # decoded body bytes of this run
    pages_per_second: float = 0.0  # recent rows per second
    remaining_seconds: float | None = None  # time left at this rate, or None without a rate yet

    @property
    def share(self) -> float:
        """Done, 0-1."""
        return self.done / self.total if self.total else 1.0

    def __str__(self) -> str:
        reasons = most_first(self.failed).items()
        parts = [
            f"{self.done:,} of {self.total:,} URLs",
            f"{self.pages_per_second:.3g} a second",
            f"{self.bytes / 1e6:,.1f} MB",
        ]
        if self.confirmed:
            parts.append(f"{self.confirmed:,} not modified")
        if self.remaining_seconds:
            parts.append(f"about {timedelta(seconds=round(self.remaining_seconds))} left")
        failed = ", ".join(f"{reason} {count:,}" for reason, count in reasons)
        return ", ".join(parts) + (f"; failed: {failed}" if failed else "")


class ProgressCount:
    """Counts rows and reports about once a second."""

    def __init__(self, done: int, total: int, report: Callable[[CrawlProgress], None]) -> None:
        self._now = CrawlProgress(done, total)
        self._failed: Counter[str] = Counter()
        self._report = report
        self._started = self._reported = time.monotonic()
        self._marks = deque([(self._started, done)])  # (time, done) of recent reports

    def add(self, row: Mapping[str, Any]) -> None:
        """Count a row of `pages`, as `tasks.fetching.visit.page_row` makes it."""
        now, reason = self._now, row["reason"] or row["stale_reason"]
        now.done += 1
        now.bytes += row["bytes"] or 0
        if reason is not None:
            self._failed[reason] += 1
        if row["reason"] is None:
            now.ok += 1
            now.confirmed += reason is None and row["body"] is None

    @property
    def seconds(self) -> float:
        """Time since the count began."""
        return time.monotonic() - self._started

    def tick(self, *, last: bool = False) -> None:
        """Report if it is time, or if this is the last report."""
        now = time.monotonic()
        if not last and now - self._reported < _EVERY_SECONDS:
            return
        self._reported = now
        while len(self._marks) > 1 and now - self._marks[0][0] > _WINDOW_SECONDS:
            self._marks.popleft()
        then, done = self._marks[0]
        rate = (self._now.done - done) / max(now - then, 1e-9)
        self._marks.append((now, self._now.done))
        left = (self._now.total - self._now.done) / rate if rate else None
        self._report(replace(self._now, failed=dict(self._failed), pages_per_second=rate, remaining_seconds=left))
