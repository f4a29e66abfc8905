"""Run stages: apply a stage's pure function to its shards, each as a job of the executor (in flows a Prefect task).

A finished shard is skipped; missing ones are computed on threads, processes or Dask. A shard that fails does not stop
the others, and the error names it; if a worker process is killed, all unfinished shards of the stage fail. With
`planning` set, the same walk computes nothing and reports what it would compute."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from storage.builds import Build, record_build
from storage.directories import DirectoryRecord, directory_path, find_directory
from storage.errors import CorruptShardError
from storage.keyed_libraries import KeyedLibraries
from storage.recipes import ShardRecord, find_record, set_aside
from storage.spending import Account
from storage.store import Store
from tasks.engine.changes import NEVER, reason_of_directory, reason_of_shard
from tasks.engine.failure_logs import describe
from tasks.engine.job import Job
from tasks.engine.libraries import with_libraries
from tasks.engine.recipe import DirectoryResult, Inputs, Recipe, StageResult
from tasks.engine.shard import make_directory, make_shard

T = TypeVar("T")
_REPAIRS = 3  # of one file; more often, the disk is at fault
_EXPLAINED = 3  # missing shards of which earlier records are looked for
Digests = Mapping[str, list[str]]  # of a shard's inputs, by argument
Outcome = ShardRecord | DirectoryRecord | BaseException


class Executor:
    """Runs jobs and shows stages: here one after another in this process, and not at all, as a library and tests do."""

    def run(self, make: Callable[[Job], Any], jobs: Sequence[Job], after: Sequence[Any] = ()) -> dict[str, Outcome]:
        """Return job name -> record or exception; the UI draws jobs `after` inputs that `show` returned."""
        outcomes: dict[str, Outcome] = {}
        for job in jobs:
            try:
                outcomes[job.name] = make(job)
            except Exception as error:  # noqa: BLE001 - one failed shard must not stop the others; the stage reports it
                outcomes[job.name] = error
        return outcomes

    def begin(self, planned: "StagePlan") -> None:
        """Say that what is missing of a stage or directory will be computed now, and why."""

    def show(self, planned: "StagePlan", after: Sequence[Any]) -> Any:
        """Show a stage or directory as done, after its inputs; return a reference for `after`."""

    def publish(self, result: StageResult, planned: "StagePlan") -> None:
        """Show the content of a finished stage."""


_AGAIN = "Run the same command again: it computes only what is missing."
_MEND = "The same command would meet this again: mend what is named, then it computes only what is missing."


class StageFailedError(Exception):
    """Some shards of a stage could not be made; the others are done and kept."""

    def __init__(self, stage: str, errors: Mapping[str, BaseException], total: int) -> None:
        super().__init__(stage, errors, total)
        self.stage = stage
        self.errors = errors  # job name -> exception
        self.total = total
        # damaged upstream shards; they have been set aside and will be computed again
        self.damaged = [error for error in errors.values() if isinstance(error, CorruptShardError)]

    @property
    def is_lasting(self) -> bool:
        """Whether every error is one that the same command would meet again: an input or a setting that is wrong."""
        return all(isinstance(error, ValueError | FileNotFoundError) for error in self.errors.values())

    def __str__(self) -> str:
        lines = [f"{name}: {describe(error)}" for name, error in self.errors.items()]
        shown = "\n  ".join(lines[:20] + ([f"and {len(lines) - 20} more"] if len(lines) > 20 else []))
        return (
            f"stage {self.stage}: {len(self.errors)} of {self.total} failed, the others are done and kept.\n  {shown}\n"
            f"{_MEND if self.is_lasting else _AGAIN}"
        )


@dataclass(frozen=True)
class StagePlan:
    """What a walk has to do for a stage."""

    stage: str  # name of the stage or directory
    shards: int  # number of shards; 0 if it is not known before an upstream stage is done
    done: int  # number of shards that are done already
    waiting: int  # number of shards that cannot be checked yet, because an upstream stage is not done
    reason: str = field(default="", compare=False)  # of the first shard to compute; "" = all are done

    @property
    def missing(self) -> int:
        """Number of shards that would certainly be computed."""
        return self.shards - self.done - self.waiting


@dataclass
class Run:
    """One walk over the DAG: finds what is done, computes what is missing, and stores every result by name."""

    store: Store  # where everything is
    executor: Executor  # runs the jobs
    planning: bool = False  # compute nothing, only plan
    account: Account | None = None  # where its jobs write what they spend
    libraries: KeyedLibraries = field(default_factory=dict)  # versions that keys hold
    plans: list[StagePlan] = field(default_factory=list)  # the plan of each stage, in the order of the walk
    stages: dict[str, StageResult] = field(default_factory=dict)  # finished stages by name
    directories: dict[str, DirectoryResult] = field(default_factory=dict)  # models and reports by name
    inputs: dict[str, Inputs] = field(default_factory=dict)  # what each of them reads, by name

    @property
    def finished(self) -> bool:
        """Whether this walk has seen stages, and every one was done before."""
        return bool(self.plans) and all(plan.done == plan.shards for plan in self.plans)

    def stage(
        self,
        recipe: Recipe,
        *,
        shards: int,
        inputs: Inputs,
        context: Mapping[str, Any] | None = None,
        scratch: str | None = None,
        lasting: str | None = None,
        name: str | None = None,
    ) -> StageResult:
        """Return a stage's shards, computing those that are missing (none when planning). `context`: arguments that
        change how a shard is made but never its content. `scratch`: name of the argument that takes a folder which
        survives an interruption (`tasks.engine.job.Scratch`), and with a key in `lasting` also the shard. `name`:
        distinguishes stages that share a dataset. Raises StageFailedError: some shards could not be made."""
        name, recipe = name or recipe.name, with_libraries(recipe, self.libraries)
        infos = self.store.infos(recipe.name)
        listing = {file: info.size for file, info in infos.items()}
        records: dict[int, ShardRecord] = {}
        jobs: list[Job] = []
        reason, explained = "", 0
        for shard in range(shards):
            results = _digests(inputs, shard)
            digests = _known(results)
            key = None if digests is None else recipe.key(shard, digests)
            record = None if key is None else find_record(self.store, listing, recipe.name, shard, key)
            if record is not None:
                records[shard] = record
                continue
            if explained < _EXPLAINED and reason in ("", NEVER):  # of another shard there may be an earlier file
                reason = reason_of_shard(self.store, infos, recipe, shard, key, results, inputs, name)
                explained += 1
            if key is not None and digests is not None:
                more = {"context": context or {}, "scratch": scratch, "lasting": lasting, "title": name}
                jobs.append(self._job(recipe, shard, key, inputs, digests, **more))
        done = len(records)
        plan = StagePlan(name, shards, done, shards - done - len(jobs), reason)
        self.plans.append(plan)
        shown = None
        if not self.planning:
            after = _shown(inputs)
            records.update(self._make(make_shard, plan, jobs, after))
            shown = self.executor.show(plan, after)
        result = StageResult(recipe.name, range(shards), dict(sorted(records.items())), shown, name)
        self.stages[name], self.inputs[name] = result, dict(inputs)
        if not self.planning:
            self.executor.publish(result, plan)
        return result

    def directory(self, recipe: Recipe, *, inputs: Inputs, context: Mapping[str, Any] | None = None) -> DirectoryResult:
        """Return a model or report, made if it is missing (not when planning); arguments and errors as of `stage`."""
        recipe = with_libraries(recipe, self.libraries)
        name, result = recipe.name, _digests(inputs, 0)
        digests = _known(result)
        key = None if digests is None else recipe.key(0, digests)
        record = None if key is None else find_directory(self.store, directory_path(name, key))
        reason = "" if record is not None else reason_of_directory(self.store, recipe, key, result, inputs)
        plan = StagePlan(name, 1, int(record is not None), int(key is None), reason)
        self.plans.append(plan)
        shown = None
        if not self.planning:
            after = _shown(inputs)
            if record is None:
                assert key is not None and digests is not None, f"{name} reads an input that is not made yet"
                job = self._job(recipe, 0, key, inputs, digests, context=context or {})
                record = self._make(make_directory, plan, [job], after)[0]
            shown = self.executor.show(plan, after)
        self.directories[name], self.inputs[name] = DirectoryResult(name, record, shown), dict(inputs)
        return self.directories[name]

    def record_build(
        self,
        config: Mapping[str, Any],
        report: DirectoryRecord | None = None,
        *,
        label: str | None = None,
        latest: bool = True,
    ) -> Build:
        """Write and return the manifest of this walk (`storage.builds.record_build`)."""
        stages = {name: result.records for name, result in self.stages.items()}
        directories = {name: result.record for name, result in self.directories.items() if result.record is not None}
        return record_build(self.store, config, stages, directories, report, label=label, latest=latest)

    def use(self, result: DirectoryResult) -> DirectoryResult:
        """Replace this walk's model with another one; the replaced one is kept as `NAME, replaced` for pruning."""
        replaced = self.directories.get(result.name)
        if replaced is not None and replaced != result:
            self.directories[f"{result.name}, replaced"] = replaced
        self.directories[result.name] = result
        return result

    def _job(self, recipe: Recipe, shard: int, key: str, inputs: Inputs, digests: Digests, **more: Any) -> Job:
        loads, own = {argument: source.loading(shard) for argument, source in inputs.items()}, recipe.of(shard)
        root, lease = self.store.root, self.store.lease
        return Job(root=root, lease=lease, recipe=own, shard=shard, key=key, inputs=loads, digests=digests, **more)

    def _make(
        self, make: Callable[[Job], Any], plan: StagePlan, jobs: Sequence[Job], after: Sequence[Any]
    ) -> dict[int, Any]:
        if not jobs:
            return {}
        self.executor.begin(plan)
        outcomes = self.executor.run(make, jobs, after)
        errors = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, BaseException)}
        for error in errors.values():
            if isinstance(error, CorruptShardError):
                set_aside(self.store, error)
        if errors:
            raise StageFailedError(plan.stage, errors, plan.shards)
        return {job.shard: outcomes[job.name] for job in jobs}


def _digests(inputs: Inputs, shard: int) -> dict[str, list[str] | None]:
    """Return argument name -> digests of a shard's inputs; None for an input of which a stage is not done."""
    return {argument: source.digests(shard) for argument, source in inputs.items()}


def _known(found: Mapping[str, list[str] | None]) -> dict[str, list[str]] | None:
    """Return the digests if all are known."""
    known = {argument: digests for argument, digests in found.items() if digests is not None}
    return known if len(known) == len(found) else None


def _shown(inputs: Inputs) -> list[Any]:
    """Return the UI references (`Executor.show`) of the inputs."""
    return [result.shown for source in inputs.values() for result in source.results if result.shown is not None]


def walk(store: Store, wiring: Callable[[], T], forget: Callable[[], None], warn: Callable[[str], None]) -> T:
    """Walk the DAG; if a file is damaged, set it aside and walk again, so that it is computed again. One walk may not
    be enough: each finds only the damage of one stage. `forget` is called before walking again, `warn` with a message
    about each damaged file. Raises StageFailedError: a stage failed for another reason, or the same file was damaged
    again after several repairs; CorruptShardError: likewise, for a file that the wiring itself reads."""
    repairs: Counter[str] = Counter()
    while True:
        try:
            return wiring()
        except (StageFailedError, CorruptShardError) as failure:
            damaged = failure.damaged if isinstance(failure, StageFailedError) else [failure]
            repairs.update(damage.path for damage in damaged)
            if all(repairs[damage.path] > _REPAIRS for damage in damaged):  # true also without any damage
                raise
            if isinstance(failure, CorruptShardError):
                set_aside(store, failure)
            for damage in damaged:
                warn(f"{damage}; set aside, computing it again")
            forget()
