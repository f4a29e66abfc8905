"""A rehearsal at the web's size: planned whole, executed in a small part, extrapolated to one page.

    python -m benchmarks.rehearsal FOLDER [--articles N] [--page benchmarks/rehearsal/README.md] [--core-hour DOLLARS]

1. The plan of 1,000 shards of articles and 1,000 of hosts, by the wiring of a build (`plan`).
2. What many shards add: opening a thousand files (`fan_in`).
3. Every stage from articles to report on a Dask cluster of two worker processes, on pages of the papers' sizes that are
   served over loopback (`execution`). The 158 articles are one in ten thousand, and take some 20 minutes of two idle
   cores; `--articles 1580` is one in a thousand. A third as many are executed first: the difference tells what an
   article costs, and what a shard.

Each part leaves its figures in the folder and is not done again; a part that was interrupted goes on where it stopped.
`--end corpus` ends with labelled paragraphs and vocabulary. `--small` executes 30 articles and plans 20 shards, to see
that it works; `--cores` are those of the cluster whose hours are reported. Needs Linux."""

import json
import os
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.frame import OptionError, command
from benchmarks.rehearsal.execution import End, execute
from benchmarks.rehearsal.extrapolation import Extrapolation, Prices
from benchmarks.rehearsal.fan_in import measure
from benchmarks.rehearsal.page import write_page
from benchmarks.rehearsal.plan import plans
from flows.running.estimates import CORPUS_URLS

LISTED = Prices()
_LEAST = 10  # articles: some for each split
_SMALL_ARTICLES, _SMALL_SHARDS = 30, 20


def part(folder: Path, name: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of a part, made now or by an earlier call."""
    file = folder / f"{name}.json"
    if file.exists():
        print(f"{name}: done before", flush=True)
    else:
        print(f"{name}: begins", flush=True)
        made = make()
        whole = file.with_suffix(".new")
        whole.write_text(json.dumps(made, indent=1))
        whole.rename(file)
        print(f"{name}: done", flush=True)
    figures: dict[str, Any] = json.loads(file.read_text())
    return figures


def machine() -> str:
    """Return the kind of machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} {platform.machine()} cores with {memory:.0f} GiB"


def main(
    folder: Path,
    articles: int = 158,
    shards: int = 1_000,
    end: End = "report",
    small: bool = False,
    page: Path | None = None,
    cores: int = 64,
    core_hour: float = LISTED.core_hour,
    gb_month: float = LISTED.gb_month,
    million_requests: float = LISTED.million_requests,
    gb_out: float = LISTED.gb_out,
    thousand_queries: float = LISTED.thousand_queries,
) -> None:
    """Make the parts that are missing and write the page; the last options are prices in dollars."""
    prices = Prices(core_hour, gb_month, million_requests, gb_out, thousand_queries)
    if small:
        articles, shards = _SMALL_ARTICLES, _SMALL_SHARDS
    smaller = articles // 3
    if smaller < _LEAST:
        raise OptionError(
            f"--articles is {articles}: expected {3 * _LEAST} or more, so that each sample has all splits"
        )
    folder.mkdir(parents=True, exist_ok=True)
    urls = CORPUS_URLS if not small else shards * 1_000
    planned = part(folder, f"plan-{shards}", lambda: plans(folder, shards, urls))
    opened = part(folder, f"fan-in-{shards}", lambda: measure(shards))
    runs = [
        part(folder, f"{end}-{size}", partial(execute, folder / f"executed-{size}", size, end))
        for size in (smaller, articles)
    ]
    made = f"Written {datetime.now(UTC):%Y-%m-%d} by `python -m benchmarks.rehearsal`."
    page = page or folder / "rehearsal.md"
    extrapolation = Extrapolation(*runs, opened, shards)
    page.write_text(write_page(extrapolation, planned, prices, cores=cores, machine=machine(), made=made))
    print(page)


if __name__ == "__main__":
    command(main, __doc__)
