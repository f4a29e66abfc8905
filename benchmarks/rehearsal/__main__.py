"""A rehearsal at the web's size: planned whole, executed in a small part, extrapolated to one page.

    python -m benchmarks.rehearsal --keep FOLDER [--articles N] [--page docs/rehearsal.md] [--core-hour DOLLARS ...]

1. The plan of 1,000 shards of articles and 1,000 of hosts, by the wiring of a build (`benchmarks.full_size_plan`).
2. What many shards add: opening a thousand files (`fan_in`).
3. Every stage from articles to report on a Dask cluster of two worker processes, on pages of the papers' sizes that are
   served over loopback (`execution`): 158 articles, one in ten thousand, in some 20 minutes of two idle cores;
   `--articles 1580` is one in a thousand. A third as many are executed first: the difference tells what an article
   costs, and what a shard.

Each part leaves its figures in the folder and is not done again; a part that was interrupted goes on where it stopped.
`--end corpus` ends with labelled paragraphs and vocabulary. `--small` executes 30 articles and plans 20 shards, to see
that it works. Needs Linux.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args

from benchmarks import full_size_plan
from benchmarks.frame import apart
from benchmarks.rehearsal.execution import End, execute
from benchmarks.rehearsal.extrapolation import Extrapolation, Prices
from benchmarks.rehearsal.fan_in import measure
from benchmarks.rehearsal.page import write_page
from flows.running.estimates import CORPUS_URLS

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


def plans(folder: Path, shards: int, urls: int) -> dict[str, Any]:
    """Plan an empty root, and the finished and the changed one; return what each took."""
    root = str(folder / "planned")
    made = {"empty": apart(full_size_plan.plan, "empty", str(folder / "unplanned"), shards)}
    full_size_plan.record_build(root, shards, urls)
    return made | {kind: apart(full_size_plan.plan, kind, root, shards) for kind in ("finished", "changed")}


def machine() -> str:
    """Return the kind of machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} {platform.machine()} cores with {memory:.0f} GiB"


def main() -> None:
    """Make the parts that are missing and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rehearsal", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, required=True, metavar="FOLDER", help="where everything is written")
    parser.add_argument("--articles", type=int, default=158, help="executed (158)")
    parser.add_argument("--shards", type=int, default=1_000, help="planned, of articles and of hosts (1000)")
    parser.add_argument("--end", choices=get_args(End), default="report", help="last stage executed (report)")
    parser.add_argument("--small", action="store_true", help="30 articles, 20 shards")
    parser.add_argument("--page", type=Path, metavar="FILE", help="where the page goes (rehearsal.md in the folder)")
    parser.add_argument("--cores", type=int, default=64, help="of the cluster whose hours are told (64)")
    for price in fields(Prices):
        name = price.name.replace("_", "-")
        parser.add_argument(f"--{name}", type=float, default=price.default, help=f"price, dollars ({price.default})")
    options = parser.parse_args()
    articles, shards = (_SMALL_ARTICLES, _SMALL_SHARDS) if options.small else (options.articles, options.shards)
    smaller = articles // 3
    if smaller < _LEAST:
        parser.error(f"--articles is {articles}: expected {3 * _LEAST} or more, so that each sample has all splits")
    folder: Path = options.keep
    folder.mkdir(parents=True, exist_ok=True)
    urls = CORPUS_URLS if not options.small else shards * 1_000
    planned = part(folder, f"plan-{shards}", lambda: plans(folder, shards, urls))
    opened = part(folder, f"fan-in-{shards}", lambda: measure(shards))
    runs = [
        part(folder, f"{options.end}-{size}", partial(execute, folder / f"executed-{size}", size, options.end))
        for size in (smaller, articles)
    ]
    prices = Prices(**{price.name: getattr(options, price.name) for price in fields(Prices)})
    page: Path = options.page or folder / "rehearsal.md"
    made = f"Written {datetime.now(UTC):%Y-%m-%d} by `python -m benchmarks.rehearsal`."
    extrapolation = Extrapolation(*runs, opened, shards)
    page.write_text(write_page(extrapolation, planned, prices, cores=options.cores, machine=machine(), made=made))
    print(page)


if __name__ == "__main__":
    main()
