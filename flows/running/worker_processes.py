"""The processes that make shards: a pool that survives sub-flows and jobs, and how its processes start and end."""

import atexit
import os
import signal
import threading
from concurrent.futures import Future
from multiprocessing import parent_process
from typing import Any

from prefect.context import SettingsContext
from prefect.task_runners import ProcessPoolTaskRunner
from rich.console import Console

from flows.running.child_processes import end_with_parent
from flows.running.ending import end


class ProcessPool(ProcessPoolTaskRunner):
    """A pool that the sub-flows of a run share, and that turns any exception of a job into an outcome.

    Prefect's own pool passes on only an `Exception`. A `KeyboardInterrupt`, a termination, or a `SystemExit` would end
    the thread that manages the pool; then every worker waits for work, and the run for outcomes, for ever. Prefect's
    engine raises `SystemExit` if the server does not answer, a log line if its output is closed.

    Prefect also sends its settings with every task, and a worker takes tens of milliseconds to check them. Here a
    worker gets them once, by `start_worker`."""

    def serve_another_flow_run(self) -> None:
        """Assign tasks submitted from here on to the flow run that submits them, not to the pool's first."""
        self._cached_context = None
        self._cached_env = None

    def _resolve_futures_and_submit(self, *args: Any, **kwargs: Any) -> Future[bytes]:
        kwargs["context"] = {**kwargs["context"], "settings_context": {}}
        job, outcome = super()._resolve_futures_and_submit(*args, **kwargs), Future[bytes]()

        def pass_on(done: Future[bytes]) -> None:
            try:
                outcome.set_result(done.result())
            except Exception as error:  # noqa: BLE001 - the stage reports it
                outcome.set_exception(error)
            except BaseException as end:  # noqa: BLE001 - it concerns the job's process and must not end this thread
                outcome.set_exception(RuntimeError(f"its process was terminated: {type(end).__name__}: {end}"))

        job.add_done_callback(pass_on)
        return outcome


def prefect_settings() -> dict[str, Any]:
    """Return Prefect's settings in this process, serialized for `start_worker`."""
    context = SettingsContext.get()
    assert context is not None, "Prefect makes them when it is imported"
    return context.serialize()


def start_worker(parent: int, settings: dict[str, Any]) -> None:
    """Prepare a worker process of a parent, with Prefect's settings there, before its first shard."""
    # Ctrl-C in a terminal reaches every process: the run stops its workers itself, so that a training saves its state.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    end_when_output_is_lost()
    SettingsContext(**settings).__enter__()  # for the rest of this process
    if parent_process() is not None:
        atexit.register(_end_worker)


def _end_worker() -> None:
    """End immediately after the other registered functions: unloading a worker's libraries takes a second."""
    atexit.unregister(_end_worker)
    end(0)


def end_when_output_is_lost() -> None:
    """End as on SIGTERM if output is lost: SystemExit of Rich's consoles would end only the writing thread."""
    Console.on_broken_pipe = _discard_output  # type: ignore[method-assign]


def _discard_output(self: Console) -> None:
    self.quiet = True
    discarded = os.open(os.devnull, os.O_WRONLY)
    os.dup2(discarded, self.file.fileno())  # other consoles and the interpreter's shutdown also write to this stream
    os.close(discarded)
    main = threading.main_thread().ident
    if parent_process() is None and main is not None:  # else it is a worker process, and its parent notices
        signal.pthread_kill(main, signal.SIGTERM)
