"""What happens when nobody reads a run's output any more: `| head` has ended, or a terminal or its session is gone."""

import os
import signal
import threading
from multiprocessing import parent_process

from rich.console import Console


def end_when_output_is_lost() -> None:
    """Have a run whose output has lost its reader end as SIGTERM ends it; may be called again.

    Rich's consoles, Prefect's log handler among them, raise SystemExit in whichever thread happens to write: that
    ends a thread that others wait for, and not the run.
    """
    Console.on_broken_pipe = _fall_silent  # type: ignore[method-assign]


def _fall_silent(self: Console) -> None:
    self.quiet = True
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, self.file.fileno())  # other consoles write to the same stream, and the interpreter's end does
    os.close(nowhere)
    main = threading.main_thread().ident
    if parent_process() is None and main is not None:  # else this process computes for another, which will find out
        signal.pthread_kill(main, signal.SIGTERM)
