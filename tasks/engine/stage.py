"""The one mechanism: a stage's pure function over its shards, as Prefect tasks.

A shard that is done is skipped; what is missing is computed on the runner of the flow (threads, processes or Dask);
a bad shard fails alone and by name while the rest finish. The same walk with `planning` set computes nothing and says
what would be.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from storage.directories import DirectoryRecord, find_directory
from storage.errors import CorruptShardError
from storage.recipes import ShardRecord, find_record, recipe_key, set_aside
from storage.schemas import Dataset
from storage.store import Store
from tasks.engine.failure_logs import describe
from tasks.engine.inputs import DirectoryResult, Input, StageResult
from tasks.engine.settings import Settings
from tasks.engine.shard import Job, make_directory, make_shard, recipe_of

T = TypeVar("T")
_REPAIRS = 3  # of one file
Outcome = ShardRecord | DirectoryRecord | BaseException


class Executor(Protocol):
    """Runs jobs somewhere and tells what became of each."""

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Return job name -> record, or the exception it ended with; never raises for a job."""
        ...

    def publish(self, result: StageResult, planned: "StagePlan") -> None:
        """Show a finished stage to people."""
        ...


class InlineExecutor:
    """Runs jobs one after another in this process; for tests and for use as a library."""

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job]) -> dict[str, Outcome]:
        """Return job name -> record, or the exception it ended with."""
        outcomes: dict[str, Outcome] = {}
        for job in jobs:
            try:
                outcomes[job.name] = make(job)
            except Exception as error:  # noqa: BLE001 - a bad shard fails alone; the stage reports it
                outcomes[job.name] = error
        return outcomes

    def publish(self, result: StageResult, planned: "StagePlan") -> None:
        """Show nothing."""


class StageFailedError(Exception):
    """Some shards of a stage could not be made; the others are done and kept.

    Attributes:
        stage: stage name.
        errors: job name -> exception.
        damaged: upstream shards that turned out damaged; they have been set aside and will be computed anew.
    """

    def __init__(self, stage: str, errors: Mapping[str, BaseException], total: int) -> None:
        """Name the stage, the jobs that failed, and how many there were in all."""
        super().__init__(stage, errors, total)
        self.stage = stage
        self.errors = errors
        self.total = total
        self.damaged = [error for error in errors.values() if isinstance(error, CorruptShardError)]

    def __str__(self) -> str:
        lines = [f"{name}: {describe(error)}" for name, error in self.errors.items()]
        shown = "\n  ".join(lines[:20] + ([f"and {len(lines) - 20} more"] if len(lines) > 20 else []))
        return (
            f"stage {self.stage}: {len(self.errors)} of {self.total} failed, the rest is done and kept.\n  {shown}\n"
            "Run the same command again: it computes only what is missing."
        )


@dataclass(frozen=True)
class StagePlan:
    """What a walk found to do for a stage.

    Attributes:
        stage: stage name, or what a directory is.
        shards: how many there are; 0 where that is not known before the stage above is done.
        done: how many are done already.
        waiting: how many cannot be judged, because a stage above them is not done.
    """

    stage: str
    shards: int
    done: int
    waiting: int

    @property
    def missing(self) -> int:
        """How many would be computed for sure."""
        return self.shards - self.done - self.waiting


@dataclass
class Run:
    """One walk over the DAG: finds what is done, computes what is missing, remembers every result by name.

    Attributes:
        store: where everything is.
        executor: runs the jobs.
        planning: compute nothing, only find out what would be.
        plans: what was found, in the order of the walk.
        stages: finished stages by name.
        directories: models and reports by name.
    """

    store: Store
    executor: Executor
    planning: bool = False
    plans: list[StagePlan] = field(default_factory=list)
    stages: dict[str, StageResult] = field(default_factory=dict)
    directories: dict[str, DirectoryResult] = field(default_factory=dict)

    def stage(
        self,
        dataset: Dataset,
        function: Callable[..., Any],
        *,
        shards: int,
        inputs: Mapping[str, Input],
        settings: Settings | None = None,
        arguments: Mapping[str, Any] | None = None,
        shard_argument: str | None = None,
        per_shard: Mapping[str, Sequence[Any]] | None = None,
        context: Mapping[str, Any] | None = None,
        notes: Mapping[str, str] | None = None,
        scratch: str | None = None,
        name: str | None = None,
    ) -> StageResult:
        """Return a stage's shards, computing those that are missing (none when planning).

        Args:
            dataset: what the stage makes.
            function: pure function; gets the inputs, `settings`, arguments and context by keyword, returns a table.
            shards: how many shards there are.
            inputs: argument name -> input.
            settings: the stage's section.
            arguments: further arguments that are part of the recipe.
            shard_argument: name under which the function wants the shard number.
            per_shard: argument name -> value for each shard; part of the recipe.
            context: further arguments that are not part of the recipe.
            notes: what else decides the content and stands in the records, such as the version of a model used.
            scratch: argument that takes a folder outliving an interruption (`tasks.engine.shard.Scratch`).
            name: under which the result is remembered, where several stages share a dataset.

        Raises:
            StageFailedError: some shards could not be made.
        """
        listing = self.store.sizes(dataset.name)
        records: dict[int, ShardRecord] = {}
        jobs: list[Job] = []
        for shard in range(shards):
            digests = {argument: source.digests(shard) for argument, source in inputs.items()}
            known = {argument: found for argument, found in digests.items() if found is not None}
            if len(known) < len(digests):
                continue
            own = {argument: values[shard] for argument, values in (per_shard or {}).items()}
            if shard_argument:
                own[shard_argument] = shard
            every_argument = {**(arguments or {}), **own}
            recipe = {**recipe_of(settings, every_argument), **(notes or {})}
            key = recipe_key(dataset.name, dataset.version, recipe, shard, known)
            record = find_record(self.store, listing, dataset.name, shard, key)
            if record is not None:
                records[shard] = record
                continue
            loads = {argument: source.loading(shard) for argument, source in inputs.items()}
            jobs.append(
                Job(self.store.root, dataset.name, dataset.version, shard, key, function, loads, known,
                    settings, every_argument, context or {}, notes or {}, scratch, name or "")
            )  # fmt: skip
        done = len(records)
        plan = StagePlan(name or dataset.name, shards, done, shards - done - len(jobs))
        self.plans.append(plan)
        if not self.planning:
            records.update(self._make(make_shard, plan.stage, jobs, shards))
        result = StageResult(dataset.name, range(shards), dict(sorted(records.items())))
        self.stages[plan.stage] = result
        if not self.planning:
            self.executor.publish(result, plan)
        return result

    def directory(
        self,
        name: str,
        function: Callable[..., Any],
        *,
        version: int,
        inputs: Mapping[str, Input],
        settings: Settings | None = None,
        arguments: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> DirectoryResult:
        """Return a model or report, making it if it is missing (not when planning).

        The arguments are those of `stage`; the function returns its metrics (`tasks.engine.shard.make_directory`).

        Raises:
            StageFailedError: it could not be made.
        """
        digests = {argument: source.digests(0) for argument, source in inputs.items()}
        known = {argument: found for argument, found in digests.items() if found is not None}
        record = None
        if len(known) == len(digests):
            key = recipe_key(name, version, recipe_of(settings, arguments or {}), 0, known)
            record = find_directory(self.store, name, key)
        self.plans.append(StagePlan(name, 1, int(record is not None), int(len(known) < len(digests))))
        if record is None and not self.planning:
            loads = {argument: source.loading(0) for argument, source in inputs.items()}
            job = Job(self.store.root, name, version, 0, key, function, loads, known, settings,
                      arguments or {}, context or {})  # fmt: skip
            record = self._make(make_directory, name, [job], 1)[0]
        self.directories[name] = DirectoryResult(name, record)
        return self.directories[name]

    def use(self, result: DirectoryResult) -> DirectoryResult:
        """Remember a model found elsewhere in place of the one of its name, and return it.

        That one stays known as `NAME, dropped`: the build names all it made, so that pruning finds it.
        """
        made = self.directories.get(result.name)
        if made is not None and made != result:
            self.directories[f"{result.name}, dropped"] = made
        self.directories[result.name] = result
        return result

    def _make(self, make: Callable[[Job], Any], stage: str, jobs: Sequence[Job], total: int) -> dict[int, Any]:
        if not jobs:
            return {}
        outcomes = self.executor.run(make, jobs)
        errors = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, BaseException)}
        for error in errors.values():
            if isinstance(error, CorruptShardError):
                set_aside(self.store, error)
        if errors:
            raise StageFailedError(stage, errors, total)
        return {job.shard: outcomes[job.name] for job in jobs}


def walk(store: Store, wiring: Callable[[], T], forget: Callable[[], None], warn: Callable[[str], None]) -> T:
    """Walk the DAG; where a file turns out damaged, it is set aside: walk again, so that it is computed anew.

    As often as it takes: every walk finds the damage of one stage, and there may be as many as there are stages.

    Args:
        store: the root.
        wiring: the walk; besides its stages it may read what they made.
        forget: called before walking again.
        warn: told what was damaged.

    Raises:
        StageFailedError: a stage failed for another reason, or the same file was damaged again time after time.
        CorruptShardError: likewise, of a file that the wiring itself reads.
    """
    repairs: Counter[str] = Counter()
    while True:
        try:
            return wiring()
        except (StageFailedError, CorruptShardError) as failure:
            damaged = failure.damaged if isinstance(failure, StageFailedError) else [failure]
            repairs.update(damage.path for damage in damaged)
            if all(repairs[damage.path] > _REPAIRS for damage in damaged):  # or there is none
                raise
            if isinstance(failure, CorruptShardError):
                set_aside(store, failure)
            for damage in damaged:
                warn(f"{damage}; set aside, computing it anew")
            forget()
