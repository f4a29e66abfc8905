"""The end of a process. It imports almost nothing, like the start of a command."""

import atexit
import os
import sys
import threading
from contextlib import suppress


def end(code: int) -> None:
    """End as Python does, but leave memory to the system. Taking all modules apart is a quarter of a short command, and
    a thread of Arrow that releases a Python object meanwhile aborts the process. Python ends by itself if a debugger, a
    profiler or coverage waits for the end, or after an error, such as closed output or a Ctrl-C."""
    monitoring = getattr(sys, "monitoring", None)  # of Python 3.12 and later
    tools = () if monitoring is None else map(monitoring.get_tool, range(6))
    if any((sys.gettrace(), sys.getprofile(), *tools)):
        return
    with suppress(Exception, KeyboardInterrupt):
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
        _end_children()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_children() -> None:
    """End processes of pools that no thread ends any longer. Python before 3.13 takes a thread for finished if a Ctrl-C
    interrupts the wait for it. Then its pool gets no word to end, and Python would wait for its processes for ever."""
    multiprocessing = sys.modules.get("multiprocessing")
    for child in multiprocessing.active_children() if multiprocessing else ():
        child.terminate()
