"""A pool of processes that outlives a sub-flow, survives a job that ends its process, and costs less a task."""

from concurrent.futures import Future
from typing import Any

from prefect.context import SettingsContext
from prefect.task_runners import ProcessPoolTaskRunner


class ProcessPool(ProcessPoolTaskRunner):
    """A pool that the sub-flows of a run share, and that turns any exception of a job into an outcome.

    Prefect's own pool passes on only an `Exception`. A `KeyboardInterrupt`, a termination, or a `SystemExit` (raised by
    Prefect's engine if the server does not answer, or by a log line whose output is closed) would end the thread that
    manages the pool: then every worker waits for work, and the run for outcomes, for ever.

    Prefect also sends its settings with every task, and a worker takes tens of milliseconds to check them. Here a
    worker gets them once, by `keep_settings` in its initializer.
    """

    def serve_another_flow_run(self) -> None:
        """Assign tasks submitted from here on to the flow run that submits them.

        Otherwise Prefect keeps the context of the first flow run for the life of a pool.
        """
        self._cached_context = None
        self._cached_env = None

    def _resolve_futures_and_submit(self, *args: Any, **kwargs: Any) -> Future[bytes]:
        kwargs["context"] = {**kwargs["context"], "settings_context": {}}
        return _with_errors_only(super()._resolve_futures_and_submit(*args, **kwargs))


def prefect_settings() -> dict[str, Any]:
    """Return Prefect's settings in this process, serialized for `keep_settings`."""
    context = SettingsContext.get()
    assert context is not None, "Prefect makes them when it is imported"
    return context.serialize()


def keep_settings(settings: dict[str, Any]) -> None:
    """Use Prefect's serialized settings for the rest of this process."""
    SettingsContext(**settings).__enter__()


def _with_errors_only(job: Future[bytes]) -> Future[bytes]:
    """Return a future with the same result in which any exception is an `Exception`."""
    outcome: Future[bytes] = Future()

    def pass_on(done: Future[bytes]) -> None:
        try:
            outcome.set_result(done.result())
        except Exception as error:  # noqa: BLE001 - the stage reports it
            outcome.set_exception(error)
        except BaseException as end:  # noqa: BLE001 - it concerns the job's process and must not end this thread
            outcome.set_exception(RuntimeError(f"its process was told to end: {type(end).__name__}: {end}"))

    job.add_done_callback(pass_on)
    return outcome
