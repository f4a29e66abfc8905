"""`python -m flows.NAME`: plan or run; no running Prefect server is needed."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from rich.console import Console
from rich.markup import escape

from flows.config import BuildConfig
from flows.running.machine import check_machine
from flows.running.options import Command
from flows.running.plan_table import show_plan
from flows.running.session import Session, holding, planning_session
from flows.running.temporary_server import use_prefect_api
from flows.verify import verify_held
from storage.errors import CorruptShardError, StorageError
from storage.store import Store
from tasks.engine.stage import StageFailedError


def main(command: Command, run: Callable[[BuildConfig], Any], wiring: Callable[[Session], Any]) -> int:
    """Plan or run what was asked for; return the exit code.

    Args:
        command: what was asked for.
        run: the flow.
        wiring: the flow's walk, for `--dry-run`.
    """
    errors = Console(stderr=True, soft_wrap=True)
    program, options, config = command.program, command.options, command.config
    signal.signal(signal.SIGTERM, _stop)
    try:
        if options.dry_run:
            show_plan(config, wiring, Console())
            return 0
        with checked(config, wiring) as store:
            if options.verify:
                _, summary = verify_held(store, dry_run=False)
                errors.print(escape(summary), highlight=False)
            use_prefect_api()
            result = run(config)
        if isinstance(result, str):
            Console(soft_wrap=True).print(result, highlight=False, markup=False)
        return 0
    except (StorageError, StageFailedError, ValueError, FileNotFoundError, ConnectionError) as error:
        errors.print(f"[red]{program} stopped[/red]: {escape(str(error))}", highlight=False)
        return 1
    except KeyboardInterrupt:
        errors.print(f"{program} interrupted; finished shards are kept: run the same command again to continue")
        return 130


@contextmanager
def checked(config: BuildConfig, wiring: Callable[[Session], Any]) -> Iterator[Store]:
    """Check machine, root and inputs before a server is started, and hold the root during the block.

    Yields:
        The root.

    Raises:
        StorageError: the root cannot be written, or another run holds it.
        FileNotFoundError: an input is missing.
        ValueError: an input is not what the settings say.
    """
    check_machine(config)
    store = Store(config.root)
    store.check_writable()
    with holding(store):
        with suppress(CorruptShardError):  # the run repairs what is damaged
            planning_session(config, keeps_answers=True).once(wiring)
        yield store


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Turn SIGTERM into an orderly end: running jobs are stopped, locks and servers released."""
    raise KeyboardInterrupt
