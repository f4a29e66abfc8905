"""Settings of how a flow runs, and what it may spend."""

import os
from typing import Literal

from pydantic import field_validator

from tasks.engine.provenance import LIBRARIES
from tasks.engine.settings import Settings, tuning

WEBHOOK = "WIKISUM_WEBHOOK"


class EngineSettings(Settings):
    """The engine that computes shards. Nothing here changes what they hold."""

    kind: Literal["threads", "processes", "dask"] = tuning("processes")
    """task runner of the flow: threads | processes | dask"""
    workers: int = tuning(0, ge=0, le=1_000)
    """shards computed at the same time; 0 = one a core"""
    dask_address: str | None = tuning(None)
    """Dask scheduler, such as tcp://10.0.0.1:8786; null = start one here"""
    device: str = tuning("auto")
    """where models run: auto | cpu | cuda | cuda:N; auto = CUDA where there is one"""
    recompute_on: tuple[str, ...] = tuning(())
    """libraries, such as trafilatura, of which another version recomputes the stages that it decides; empty = none"""

    @field_validator("recompute_on")
    @classmethod
    def _decide_stages(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in LIBRARIES:
                raise ValueError(f"{name!r} decides no stage: expected some of {', '.join(sorted(LIBRARIES))}")
        return value

    @property
    def parallel(self) -> int:
        """How many shards are computed at the same time."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return self.workers or cores


class BudgetSettings(Settings):
    """What a run, and all runs of a calendar month (UTC) on a root, may spend; null = no limit. A run that would exceed
    it does not start, or stops and keeps what is done."""

    run_dollars: float | None = tuning(None, gt=0, le=1e9)
    """US dollars of a run, for search and language models"""
    month_dollars: float | None = tuning(None, gt=0, le=1e9)
    """US dollars of a month"""
