"""The state that the flows of one process share: the root's lock, the embedded web, and finished stages."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, TypeVar

import prefect.runtime
from prefect import get_run_logger

from flows.config import BuildConfig
from flows.running.display import ProgressLog, current_flow_run, span, tagged
from flows.running.estimates import account_of, check_budget, shown_spending
from flows.running.execution import PrefectExecutor
from flows.running.machine import check_machine
from flows.running.metrics import metrics_file
from flows.running.writer_trial import try_writer
from storage.builds import Build
from storage.directories import DirectoryRecord
from storage.errors import CorruptShardError
from storage.inventory import check_format, take_stock
from storage.root import check_root, opened_root, reading_root, root_lock
from storage.store import Store
from tasks.engine.libraries import key_libraries, keyed_libraries
from tasks.engine.recipe import DirectoryResult, Input, Recipe
from tasks.engine.stage import Run, walk
from tasks.reporting.publishing import PAGE, publish_parts, report_text
from tasks.sources.choice import running_web

T = TypeVar("T")

_current: ContextVar["Session | None"] = ContextVar("session", default=None)
_holding: ContextVar[bool] = ContextVar("holding", default=False)  # whether the command line holds the root
WAIT_SECONDS = 86_400.0  # for another run that holds the root; the command line refuses at once


@dataclass
class Session:
    """One process's work on one root."""

    config: BuildConfig
    executor: PrefectExecutor
    run: Run  # the walk over the DAG
    connect_to: Mapping[str, str] = field(default_factory=dict)  # host pattern -> address:port of the embedded web
    keeps_answers: bool = True  # whether an interrupted listing of a live wiki keeps its answers on the root
    build: "Session | None" = None  # the build's own, where this walks for a further summarizer
    system: str | None = None  # that summarizer's name in tables
    _walked: dict[Callable[..., Any], Any] = field(default_factory=dict)
    _walking: list[Callable[..., Any]] = field(default_factory=list)  # the outermost wiring first

    def once(self, wiring: Callable[["Session"], T]) -> T:
        """Return the result of `wiring`, which is walked only once per session."""
        if wiring not in self._walked:
            self._walking.append(wiring)
            try:
                self._walked[wiring] = wiring(self)
            finally:
                self._walking.pop()
        result: T = self._walked[wiring]
        return result

    def training(
        self, kind: Callable[[DirectoryResult], T], recipe: Recipe, inputs: Mapping[str, Input], name: str
    ) -> T:
        """Return a model as its `kind` of result, trained on the settings' device, its progress shown under a name."""
        context = {"progress": self.progress(name), "device": self.config.engine.device}
        return kind(self.run.directory(recipe, inputs=inputs, context=context))

    def keep_results(self, report: DirectoryRecord | None = None) -> None:
        """Name what the walk has made in a manifest, the latest; within another walk, that one does."""
        if len(self._walking) == 1:
            self.run.record_build(self.config.model_dump(mode="json"), report)

    def progress(self, name: str) -> ProgressLog:
        """Return what shows the progress of a task of this name in the UI."""
        return ProgressLog(name, self.config.name)

    def further(self) -> Iterator["Session"]:
        """Yield a walk for each further summarizer, under its settings; it recomputes only what these change."""
        for name, config in self.config.further_builds():
            yield replace(self, config=config, build=self, system=name, _walked={}, _walking=[])

    def named(self, name: str) -> str:
        """Return the name of a stage, which those of a further summarizer share with the build's own."""
        return name if self.system is None else f"{name}-{self.system}"

    def publish_report(self, report: DirectoryResult, page: str = PAGE) -> str:
        """Publish the parts of a report if this is a flow run; return its summary and the path of its page as text."""
        assert report.record is not None
        if current_flow_run() is not None:
            publish_parts(self.run.store, report.record, self.config.name)
        return report_text(self.run.store, report.record, page)

    def track(self, report: DirectoryResult) -> None:
        """Write a report for TensorBoard where the settings ask for it."""
        to = self.config.report.tensorboard
        if to is None:
            return
        from tasks.reporting.tensorboard import write_events  # here, because torch takes seconds to import

        assert report.record is not None
        models = [directory.record for directory in self.run.directories.values() if directory.record is not None]
        write_events(self.run.store, report.record, models, self.config.name, to)

    def publish_overview(self, build: Build) -> None:
        """Publish lineage and index of the build that this walk has recorded, if this is a flow run."""
        if current_flow_run() is None:
            return
        from tasks.reporting.overview import publish_overview  # here, so that worker processes do not load matplotlib

        directories = {name: item.record for name, item in self.run.directories.items() if item.record is not None}
        stages = {name: item.in_order for name, item in self.run.stages.items()}
        publish_overview(build, self.config.name, stages, directories)

    def forget(self) -> None:
        """Forget the results, so that everything is walked again; finished shards are found by their keys."""
        self._walked.clear()
        self.run.plans.clear()


def once(function: Callable[[Session], T]) -> Callable[[Session], T]:
    """Let a function of the session run once in each, whose flows share its result."""

    @wraps(function)
    def shared(session: Session) -> T:
        return session.once(function)

    return shared


def once_a_build(function: Callable[[Session], T]) -> Callable[[Session], T]:
    """Let a function of the session run once for a build and its further summarizers."""

    shared = once(function)
    return wraps(function)(lambda session: shared(session.build or session))


@contextmanager
def holding(store: Store) -> Iterator[None]:
    """Open the root (`opened_root`) for the session of the block, from the checks on."""
    with opened_root(store):
        token = _holding.set(True)
        try:
            yield
        finally:
            _holding.reset(token)


@contextmanager
def session(config: BuildConfig) -> Iterator[Session]:
    """Join the session of the flow around this one, or open one: check and lock the root, start the embedded web.
    Raises ValueError: the configuration is not that of the flow around, or the machine lacks what a setting names (with
    FileNotFoundError and ConnectionError as `check_machine` says). StorageError: the root cannot be written or has
    another format. RootBusyError: another run still holds it after the wait."""
    outer = _current.get()
    if outer is not None:
        other = outer.config
        if sections := [name for name in type(config).model_fields if getattr(config, name) != getattr(other, name)]:
            raise ValueError(
                f"this sub-flow was given a configuration that differs in {', '.join(sections)}: expected that of "
                "the flow around it, whose root and finished stages it shares"
            )
        yield outer
        return
    check_machine(config)
    store = Store(config.root)
    with ExitStack() as stack:
        if not _holding.get():
            stack.enter_context(opened_root(store, WAIT_SECONDS))
        connect_to = stack.enter_context(running_web(config.source)) if config.miniweb else {}
        executor = PrefectExecutor(config.engine, config.name)
        libraries = key_libraries(store, config.engine.recompute_on)
        run = Run(store, executor, account=account_of(config), libraries=libraries)
        opened = Session(config, executor, run, connect_to)
        token = _current.set(opened)
        stack.callback(_current.reset, token)
        yield opened


def planning_session(
    config: BuildConfig, *, keeps_answers: bool = False, recompute_on: Collection[str] = ()
) -> Session:
    """Return a session that computes nothing and writes nothing but answers; with libraries of which another version
    recomputes stages, besides those of the settings. StorageError: the root has another format."""
    executor, store = PrefectExecutor(config.engine, config.name), Store(config.root)
    check_format(store)
    libraries = keyed_libraries(store, {*config.engine.recompute_on, *recompute_on})
    run = Run(store, executor, planning=True, libraries=libraries)
    return Session(config, executor, run, keeps_answers=keeps_answers)


def walk_finished(config: BuildConfig, wiring: Callable[[Session], T]) -> T:
    """Walk wiring whose stages are done, without server and publishing; CorruptShardError for a damaged file."""
    executor = PrefectExecutor(config.engine, config.name)
    store = Store(config.root)
    libraries = keyed_libraries(store, config.engine.recompute_on)
    finished = Session(config, executor, Run(store, executor, libraries=libraries))
    token = _current.set(finished)
    try:
        return finished.once(wiring)
    finally:
        _current.reset(token)


def walk_flow(config: BuildConfig, wiring: Callable[[Session], T]) -> T:
    """Walk a flow's wiring in its session; the outermost repairs damaged shards. Raises StageFailedError;
    BudgetSpentError: it would exceed a budget, and has not started or has stopped."""
    nested = _current.get() is not None
    if nested and current_flow_run() is None:  # within `walk_finished`
        with session(config) as finished:
            return finished.once(wiring)
    with session(config) as opened, opened.executor.serving(), tagged(config.name):
        if nested:
            return opened.once(wiring)
        if (account_of(config).limited or config.writer) and not _holding.get():  # the command line has done this
            planned = planning_session(config)
            with suppress(CorruptShardError):  # the run repairs what is damaged
                planned.once(wiring)
            check_budget(planned.run, config)
            if (tried := try_writer(planned.run, config)) is not None:
                get_run_logger().info("%s", tried)
        with metrics_file(opened.run), span(config.name), shown_spending(opened.run, config):
            return walk(opened.run.store, lambda: opened.once(wiring), opened.forget, get_run_logger().warning)


@contextmanager
def held_root(root: str, *, dry_run: bool = False) -> Iterator[Store]:
    """Hold a root; a deployment waits for it. A `dry_run` only reads it, at once. StorageError: there is none of this
    format; RootBusyError: it is held."""
    store = Store(root)
    check_root(store)
    if dry_run:
        with reading_root(store):
            yield store
        return
    with root_lock(store, WAIT_SECONDS if prefect.runtime.deployment.id else 0.0):
        take_stock(store)
        yield store
