"""Prefect's pool of processes, made to outlive a sub-flow and to survive a job that asks for the end of its process."""

from concurrent.futures import Future
from typing import Any

from prefect.task_runners import ProcessPoolTaskRunner


class ProcessPool(ProcessPoolTaskRunner):
    """A pool that the sub-flows of a run share, and that turns whatever a job ends with into an outcome.

    Prefect's own pool hands an exception on only where it is an `Exception`. A `SystemExit`, with which its engine
    ends a process that the server does not answer, or a log line whose reader is gone, a `KeyboardInterrupt` or a
    termination would run through the thread that manages the pool and end it: every worker then waits for work, and
    the run for outcomes, for ever.
    """

    def serve_another_flow_run(self) -> None:
        """Count the tasks that are submitted from here on to the flow run that submits them.

        Prefect keeps the first one's context for the life of a pool.
        """
        self._cached_context = None
        self._cached_env = None

    def _resolve_futures_and_submit(self, *args: Any, **kwargs: Any) -> Future[bytes]:
        return _with_errors_only(super()._resolve_futures_and_submit(*args, **kwargs))


def _with_errors_only(job: Future[bytes]) -> Future[bytes]:
    """Return a future of the same result whose exception is an `Exception`."""
    outcome: Future[bytes] = Future()

    def pass_on(done: Future[bytes]) -> None:
        try:
            outcome.set_result(done.result())
        except Exception as error:  # noqa: BLE001 - the stage reports it
            outcome.set_exception(error)
        except BaseException as end:  # noqa: BLE001 - it was meant for the job's process, and must not end this thread
            outcome.set_exception(RuntimeError(f"its process was told to end: {type(end).__name__}: {end}"))

    job.add_done_callback(pass_on)
    return outcome
