"""What every stage makes of a tiny fixed corpus (`stage_outputs.yaml`), so that no change of an output is overlooked.

A shard's key holds the stage's version, not its code. So whoever changes what a stage makes raises its version: else
old shards still count as done. `stage_outputs.json` records what each stage made under its version; a test builds the
tiny corpus again and names every stage that makes something else of the same inputs under the same version.

    python -m tests.stage_outputs          # record stages with a new version, and what follows from them
    python -m tests.stage_outputs --anew   # record all, because the tiny corpus itself was changed

Numbers with a fraction differ between processors: of each column they are recorded as their mean and compared within
`TOLERANCE`; everything else is compared exactly, by a digest for each column. The trainings take three steps, so that
what they choose does not hang on the last bit of a weight.

A stage that changes its output while one that it reads does too is not told apart from one that only follows.
"""

import argparse
import hashlib
import json
import math
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from flows import dag
from flows.config import BuildConfig
from flows.pretrain import build as pretrain
from flows.running.session import Session
from flows.stages.versions import freeze
from storage.directories import DirectoryRecord
from storage.recipes import ShardRecord
from storage.schemas import DATASETS
from storage.store import Store
from tasks.engine.job import Job
from tasks.engine.stage import Executor, Run
from tasks.sources.choice import running_web
from tests.flows.command_line import settings_of

TABLE = Path(__file__).with_suffix(".json")
TOLERANCE = 1e-3  # of a mean; rounding differs between processors by some 1e-6 after three steps
_TIMED = ("seconds", "per_second", "peak_")  # metrics of a directory that differ between equal runs
_TEXTS = (".md", ".html", ".txt")  # compared without their numbers and pictures, which hold the seconds of the run
_NUMBERS = re.compile(r"base64,[A-Za-z0-9+/=]+|[0-9a-f]{16,}|[0-9][0-9.,]*")
_CORPUS = TABLE.with_suffix(".yaml")
_SUMMARIZED = ["--summarizer.preset=pht-small", "--decoding.alignment=predicted"]
_PRETRAINED = ["--summarizer.preset=bart-small", "--vocabulary.model-type=byte-bpe"]


@dataclass(frozen=True)
class Output:
    """What a stage made of the tiny corpus.

    Attributes:
        version: of its dataset, or in the recipe of its directory.
        reads: the stages whose outputs it read.
        rows: of all shards; 0 for a directory.
        layout: of its Parquet files: codecs, and row groups in all.
        columns: column, metric, or file of text -> 16 hex digits of its values without fractions.
        means: column or metric -> mean of its numbers with fractions.
    """

    version: int
    reads: Sequence[str]
    rows: int
    layout: str
    columns: Mapping[str, str]
    means: Mapping[str, float]


@dataclass
class _Values:
    """The values of one column: a digest of what is exact, and the sum of what is not."""

    exact: Any = field(default_factory=hashlib.sha256)
    total: float = 0.0
    count: int = 0

    def add(self, value: Any) -> None:
        self.exact.update(json.dumps(self._without_fractions(value), sort_keys=True, default=str).encode())

    def mean(self) -> float:
        return self.total / self.count

    def _without_fractions(self, value: Any) -> Any:
        if isinstance(value, float):
            self.total += value if math.isfinite(value) else 0.0
            self.count += 1
            return "fraction" if math.isfinite(value) else str(value)
        if isinstance(value, Mapping):
            return {name: self._without_fractions(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._without_fractions(one) for one in value]
        return value


class Watching(Executor):
    """Remembers every job with its record."""

    def __init__(self) -> None:
        self.made: list[tuple[Job, ShardRecord | DirectoryRecord]] = []

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[Any] = ()) -> dict[str, Any]:
        outcomes = super().run(make, jobs, after)
        self.made += [(job, outcomes[job.name]) for job in jobs if not isinstance(outcomes[job.name], BaseException)]
        return outcomes


def function_of(job: Job) -> str:
    """Return the name of a job's stage in the table, such as features.compute_features."""
    assert isinstance(job.recipe.function, str)
    return f"{job.stage}.{job.recipe.function.rpartition(':')[2]}"


def make_outputs(root: Path) -> dict[str, Output]:
    """Build the tiny corpus below an empty folder, and return what each stage made, by name."""
    executor = Watching()
    walk(root, executor, _SUMMARIZED, lambda session: (dag.report(session), freeze(session, dag.corpus(session))))
    walk(root, executor, _PRETRAINED, pretrain)
    return _outputs(Store(str(root)), executor.made)


def differences(now: Mapping[str, Output], table: Mapping[str, Output]) -> dict[str, list[str]]:
    """Return stage -> what differs of its output: fields, columns and means; only stages that do differ."""
    found = {}
    for name in sorted(now.keys() | table.keys()):
        if name not in table or name not in now:
            found[name] = ["is new" if name in now else "is gone"]
            continue
        new, old = now[name], table[name]
        parts = [part for part in ("version", "reads", "rows", "layout") if getattr(new, part) != getattr(old, part)]
        parts += [column for column in new.columns | old.columns if new.columns.get(column) != old.columns.get(column)]
        parts += [mean for mean in new.means | old.means if not _close(new.means.get(mean), old.means.get(mean))]
        if parts:
            found[name] = sorted(set(parts))
    return found


def overlooked(now: Mapping[str, Output], table: Mapping[str, Output]) -> dict[str, list[str]]:
    """Return the stages that make something else under the same version of inputs that are the same.

    One that reads other stages than before has other keys, too.
    """
    changed = differences(now, table)
    return {
        name: parts
        for name, parts in changed.items()
        if name in now and name in table and {"version", "reads"}.isdisjoint(parts)
        if not any(read in changed for read in now[name].reads)
    }


def read_table(path: Path = TABLE) -> dict[str, Output]:
    """Return the recorded outputs; empty if there are none."""
    if not path.exists():
        return {}
    return {name: Output(**fields) for name, fields in json.loads(path.read_text(encoding="utf-8")).items()}


def record(now: Mapping[str, Output], *, anew: bool = False, path: Path = TABLE) -> dict[str, list[str]]:
    """Record outputs, unless stages are overlooked, and return those; with `anew` none are."""
    left = {} if anew else overlooked(now, read_table(path))
    if not left:
        rows = {name: asdict(output) for name, output in sorted(now.items())}
        path.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return left


def main(arguments: Sequence[str] | None = None) -> int:
    """Record the outputs; status 1 if a stage's version must rise first."""
    parser = argparse.ArgumentParser(prog="python -m tests.stage_outputs", description=__doc__.partition("\n")[0])
    parser.add_argument("--anew", action="store_true", help="record everything: the tiny corpus itself was changed")
    anew = parser.parse_args(arguments).anew
    with tempfile.TemporaryDirectory() as folder:
        left = record(make_outputs(Path(folder)), anew=anew)
    for name, parts in left.items():
        print(f"{name}: {', '.join(parts)} changed under the same version: raise it, or undo the change")
    return 1 if left else 0


def walk(root: Path, executor: Watching, more: Sequence[str], wiring: Callable[[Session], Any]) -> None:
    """Build what `wiring` asks for of the tiny corpus below `root`, with more settings."""
    config: BuildConfig = settings_of(f"--root={root}", f"--config={_CORPUS}", *more).build
    with running_web(config.source) as connect_to:
        session = Session(config, executor, Run(Store(config.root), executor), connect_to)  # type: ignore[arg-type]
        session.once(wiring)


def _outputs(store: Store, made: Sequence[tuple[Job, ShardRecord | DirectoryRecord]]) -> dict[str, Output]:
    makers: dict[str, set[str]] = defaultdict(set)  # digest of an output -> the stages that made it
    for job, one in made:
        for digest in _digests(one):
            makers[digest].add(function_of(job))
    versions, rows, groups = dict[str, int](), Counter[str](), Counter[str]()
    reads, codecs = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    values: dict[str, dict[str, _Values]] = defaultdict(lambda: defaultdict(_Values))
    for job, one in sorted(made, key=lambda pair: (pair[0].stage, pair[0].shard, pair[0].called)):
        name = function_of(job)
        versions[name] = job.recipe.made_version
        reads[name] |= {maker for digests in job.digests.values() for digest in digests for maker in makers[digest]}
        if isinstance(one, ShardRecord):
            rows[name] += one.written.rows
            table, layout = store.read_table(one.path, one.written.sha256), pq.read_metadata(store.path(one.path))
            groups[name] += layout.num_row_groups
            codecs[name] |= {
                layout.row_group(group).column(column).compression
                for group in range(layout.num_row_groups)
                for column in range(layout.num_columns)
            }
            for column in DATASETS[one.stage].stable:
                for value in table.column(column).to_pylist():
                    values[name][column].add(value)
        else:
            for metric, value in one.metrics.items():
                if not any(part in metric for part in _TIMED):
                    values[name][metric].add(value)
            values[name]["files"].add(sorted(one.files))
            for file in sorted(one.files):
                if file.endswith(_TEXTS):
                    values[name][file].add(_NUMBERS.sub("0", store.read_bytes(f"{one.path}/{file}").decode()))
    return {
        name: Output(
            version=versions[name],
            reads=sorted(reads[name] - {name}),
            rows=rows[name],
            layout=f"{', '.join(sorted(codecs[name]))} in {groups[name]} row groups" if codecs[name] else "",
            columns={column: found.exact.hexdigest()[:16] for column, found in sorted(values[name].items())},
            means={column: found.mean() for column, found in sorted(values[name].items()) if found.count},
        )
        for name in sorted(versions)
    }


def _digests(one: ShardRecord | DirectoryRecord) -> list[str]:
    if isinstance(one, DirectoryRecord):
        return [one.digest]
    return [one.written.digest, *(group.digest for group in one.written.groups.values())]


def _close(new: float | None, old: float | None) -> bool:
    return new is not None and old is not None and math.isclose(new, old, rel_tol=TOLERANCE, abs_tol=1e-6)


if __name__ == "__main__":
    sys.exit(main())
