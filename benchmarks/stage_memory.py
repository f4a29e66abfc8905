"""Peak memory of CPU stages at 1,000 articles a shard of 525 paragraphs x 70 words.

    python -m benchmarks.stage_memory [STAGE ...] [--articles N]

Each stage runs in a process of its own, exactly as a build runs it: inputs are read from the store with their checks,
the result is digested and written, and the record says the highest resident memory of the process. A stage's inputs
are made first, in their own processes, synthetic articles and documents included. Exit status 1 where a stage passes
the bar. To measure another stage, add its line to STAGES.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name

import pyarrow as pa

from storage.parts import gather, whole
from storage.recipes import ShardRecord, find_record
from storage.schemas import DATASETS
from storage.store import Store
from tasks.inputs import TableReference
from tasks.shard import Job, make_shard

BAR_BYTES = 1_500_000_000
KEY = "benchmark"


@dataclass(frozen=True)
class Stage:
    """How to run a stage.

    Attributes:
        function: the stage's function, as module:name; loaded in the stage's process only.
        settings: its settings class, as module:name, or None.
        inputs: stages it reads; each is passed under its own name.
    """

    function: str
    settings: str | None = None
    inputs: tuple[str, ...] = ()


STAGES = {
    "articles": Stage("benchmarks.synthetic:make_articles"),
    "documents": Stage("benchmarks.synthetic:make_documents"),
    "paragraphs": Stage(
        "tasks.paragraphs:build_paragraphs", "tasks.paragraphs:ParagraphSettings", ("articles", "documents")
    ),
    "features": Stage("tasks.features:compute_features", "tasks.features:FeatureSettings", ("articles", "paragraphs")),
}


def record_of(store: Store, stage: str) -> ShardRecord | None:
    """Return the record of a stage's only shard, or None before it is made."""
    return find_record(store, store.sizes(stage), stage, 0, KEY)


def make(stage: str, root: str, articles: int) -> None:
    """Make a stage's only shard in this process."""
    store, chosen = Store(root), STAGES[stage]
    inputs = {}
    for name in chosen.inputs:
        record = record_of(store, name)
        assert record is not None, f"{name} was not made"
        parts = gather([record], 0) if DATASETS[name].grouped_by else [whole(record)]
        inputs[name] = TableReference(name, tuple(parts))
    function: Callable[..., pa.Table] = resolve_name(chosen.function)
    make_shard(
        Job(
            root=root, stage=stage, version=0, shard=0, key=KEY, function=function, inputs=inputs, digests={},
            settings=resolve_name(chosen.settings)() if chosen.settings else None,
            arguments={} if chosen.inputs else {"articles": articles},
        )
    )  # fmt: skip


def needed(stages: list[str]) -> list[str]:
    """Return the stages and all they read, inputs first."""
    order: dict[str, None] = {}
    for stage in stages:
        order |= dict.fromkeys([*needed(list(STAGES[stage].inputs)), stage])
    return list(order)


def main() -> int:
    """Print the peak of each stage; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    measured = [name for name, stage in STAGES.items() if stage.inputs]
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"default: {' '.join(measured)}")
    parser.add_argument("--articles", type=int, default=1000)
    parser.add_argument("--root", help=argparse.SUPPRESS)  # set where a stage's own process is meant
    options = parser.parse_args()
    if unknown := set(options.stages) - set(STAGES):
        parser.error(f"unknown stages {sorted(unknown)}: expected some of {measured}")
    if options.root:
        make(options.stages[0], options.root, options.articles)
        return 0
    missed = False
    with tempfile.TemporaryDirectory() as root:
        for stage in needed(options.stages or measured):
            call = [sys.executable, "-m", "benchmarks.stage_memory", stage, "--articles", str(options.articles)]
            subprocess.run([*call, "--root", root], check=True)
            record = record_of(Store(root), stage)
            assert record is not None
            over = stage in measured and record.peak_bytes > BAR_BYTES
            missed |= over
            note = "" if stage in measured else "(input)"
            print(
                f"{stage:12}{record.written.rows:9} rows{record.seconds:8.1f} s"
                f"{record.peak_bytes / 1e9:7.2f} GB peak{' OVER' if over else ''} {note}",
                flush=True,
            )
    print(f"bar {BAR_BYTES / 1e9} GB at {options.articles} articles a shard")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
