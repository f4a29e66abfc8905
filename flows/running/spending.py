"""Hours that the jobs of a run take, counted while they go on, and what its budgets' page says."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from flows.config import BuildConfig
from flows.running.graph import current_flow_run
from storage.limits import HOURS, MONEY, Limits
from storage.spending import Ledger, spent, this_month
from tasks.engine.shard import Job
from tasks.engine.stage import Run
from tasks.reporting.publishing import SPENDING, publish_page

COUNT_SECONDS = 5.0  # a limit is exceeded by so many seconds of each worker at most


class Hours:
    """The hours of one stage's jobs, of which so many run at the same time."""

    def __init__(self, ledger: Ledger, job: Job, parallel: int) -> None:
        self._ledger, self._parallel, self._gpus = ledger, parallel, gpus_of(job)
        self._counted, self._since = 0.0, time.monotonic()

    def count(self, unfinished: int, *, last: bool = False) -> None:
        """Count the time since the last call for jobs of which so many had not ended. Raises BudgetSpentError."""
        now = time.monotonic()
        self._counted += min(self._parallel, unfinished) * (now - self._since) / 3600
        self._since = now
        if last or self._counted * 3600 >= COUNT_SECONDS:
            hours, self._counted = self._counted, 0.0
            self._ledger.add("cores", hours)
            self._ledger.add("gpus", hours * self._gpus)


def gpus_of(job: Job) -> int:
    """Return how many GPUs a job uses: a training that is not told one uses all of this machine."""
    device = job.context.get("device") or "cpu"
    if device == "cpu":
        return 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = Path("/dev").glob("nvidia[0-9]*") if visible is None else filter(None, visible.split(","))
    present = len(list(found))
    return present if job.stage.startswith("models/") and ":" not in device else min(1, present)


def spending_line(what: str, amounts: Mapping[str, float], limits: Limits, most: Mapping[str, float]) -> str:
    """Return a sentence on what was spent, and what may be."""
    search, endpoints = (amounts.get(kind, 0.0) for kind in MONEY)
    cores, gpus = (amounts.get(kind, 0.0) for kind in HOURS)
    names = {"dollars": "${:,g}", "cores": "{:,g} core-hours", "gpus": "{:,g} GPU-hours"}
    allowed = ", ".join(names[kind].format(limit) for kind, limit in most.items())
    return (
        f"{what}: ${limits.dollars(amounts):,.2f} (search ${search:,.2f}, language models ${endpoints:,.2f}), "
        f"{cores:,.2f} core-hours, {gpus:,.2f} GPU-hours; {f'at most {allowed}' if allowed else 'no limit'}."
    )


def month_line(run: Run, config: BuildConfig) -> str:
    """Return what this month's runs have spent."""
    month, limits = this_month(), config.budget.limits
    return spending_line(f"Spent in {month} on this root", spent(run.store, month)[0], limits, limits.month)


@contextmanager
def shown_spending(run: Run, config: BuildConfig) -> Iterator[None]:
    """Publish what a run and its month have spent when the block ends, however it does, if this is a flow run."""
    try:
        yield
    finally:
        if run.account is not None and current_flow_run() is not None:
            own = run.account.spent(run.store, this_month())[1]
            lines = [spending_line("This run", own, config.budget.limits, config.budget.limits.run)]
            lines.append(month_line(run, config))
            publish_page(config.name, SPENDING, "\n\n".join(lines), f"{config.name}: what this run and month cost.")
