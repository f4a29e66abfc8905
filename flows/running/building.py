"""Plan or run what a command asks for; no running Prefect server is needed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rich.console import Console
from rich.markup import escape

from flows.config import BuildConfig
from flows.running.command_line import CommandLine, Stopped
from flows.running.estimates import check_budget
from flows.running.machine import check_machine, lacking
from flows.running.plan_table import show_plan
from flows.running.session import Session, holding, planning_session, walk_finished
from flows.running.temporary_server import check_prefect_api, has_prefect_api, use_prefect_api
from flows.verify import verify_held
from storage.errors import CorruptShardError
from storage.root_format import prepare_root
from storage.store import Store
from tasks.engine.stage import StageFailedError
from tasks.writing.writer import check_writer

_NOTHING_TO_DO = "every stage is done; PREFECT_API_URL is not set, so no run is shown in a UI"


def run_build(
    given: CommandLine, run: Callable[[BuildConfig], Any], wiring: Callable[[Session], Any], *, only_stages: bool = True
) -> int:
    """Plan or run what was asked for; return the exit code. `wiring` is the flow's walk, for the plan. `only_stages`:
    stages and a manifest are all that the flow makes, so that where every stage is done it needs no Prefect server.
    Raises Stopped: some shards of a stage could not be made; StorageError, ValueError, OSError: as `checked`."""
    errors, config = Console(stderr=True, soft_wrap=True), given.build
    if given.dry_run:
        show_plan(config, wiring, Console())
        lacks = lacking(config)
        for lack in lacks:
            errors.print(f"[red]this machine lacks[/red] {escape(lack)}", highlight=False)
        return 1 if lacks else 0
    check_prefect_api()
    with checked(config, wiring) as planned:
        if given.verify:
            _, summary = verify_held(planned.run.store, dry_run=False)
            errors.print(escape(summary), highlight=False)
            planned = _planned(config, wiring)
        if only_stages and planned.run.finished and not has_prefect_api():
            # A temporary server would take longer to start than all the rest, and nobody could look at its run.
            errors.print(_NOTHING_TO_DO, highlight=False)
            with suppress(CorruptShardError):
                return _show(walk_finished(config, wiring))
        use_prefect_api()
        try:
            return _show(run(config))
        except StageFailedError as error:
            raise Stopped(str(error)) from error


@contextmanager
def checked(config: BuildConfig, wiring: Callable[[Session], Any]) -> Iterator[Session]:
    """Check machine, root, inputs and the language model that is to write before a server starts, and hold the root;
    the session is that of the plan. Raises ChatError, a ValueError: this model cannot be asked; BudgetSpentError."""
    check_machine(config)
    store = Store(config.root)
    prepare_root(store)
    with holding(store):
        yield _planned(config, wiring)


def _planned(config: BuildConfig, wiring: Callable[[Session], Any]) -> Session:
    planned = planning_session(config, keeps_answers=True)
    try:
        planned.once(wiring)
    except CorruptShardError:  # the run repairs what is damaged
        planned.forget()
    written = planned.run.stages.get("written")
    if config.writer is not None and written is not None and not written.complete:
        check_writer(config.writer, config.writer.words)
    check_budget(planned.run, config)
    return planned


def _show(result: Any) -> int:
    """Print what a flow returns, if it is a text; return the exit code."""
    if isinstance(result, str):
        Console(soft_wrap=True).print(result, highlight=False, markup=False)
    return 0
