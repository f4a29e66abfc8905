"""End a run when its output is no longer read: after `| head` has ended, or a terminal was closed."""

import os
import signal
import threading
from multiprocessing import parent_process

from rich.console import Console


def end_when_output_is_lost() -> None:
    """Make a run whose output is lost end as on SIGTERM; may be called again.

    Rich's consoles, and so Prefect's log handler, raise SystemExit in the thread that writes: that ends a thread for
    which others wait, but not the run.
    """
    Console.on_broken_pipe = _discard_output  # type: ignore[method-assign]


def _discard_output(self: Console) -> None:
    self.quiet = True
    discarded = os.open(os.devnull, os.O_WRONLY)
    os.dup2(discarded, self.file.fileno())  # other consoles and the interpreter's shutdown also write to this stream
    os.close(discarded)
    main = threading.main_thread().ident
    if parent_process() is None and main is not None:  # else it is a worker process, and its parent notices
        signal.pthread_kill(main, signal.SIGTERM)
