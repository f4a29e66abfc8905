"""What `wikisum` and `python -m flows` start. It imports next to nothing, so that a Ctrl-C during the slow imports
behind it is answered in a line, like any later one."""

import atexit
import os
import sys
import threading
from contextlib import suppress
from typing import NoReturn


def main() -> NoReturn:
    """Answer the command line and exit (`flows.running.commands.main`)."""
    try:
        from flows.running import commands
    except KeyboardInterrupt:
        print(f"{' '.join(['wikisum', *sys.argv[1:2]])} interrupted; nothing was begun", file=sys.stderr)
        sys.exit(130)
    try:
        commands.main()
    except SystemExit as ended:
        if isinstance(ended.code, int):
            end(ended.code)
        raise


def end(code: int) -> None:
    """End as Python does, but leave memory to the system: taking all modules apart is a quarter of a short command, and
    a thread of Arrow that lets go of a Python object meanwhile aborts the process. Where a debugger, a profiler or
    coverage waits for the end, or after an error, as of output that is closed, or a Ctrl-C, Python ends by itself."""
    monitoring = getattr(sys, "monitoring", None)  # of Python 3.12 and later
    tools = () if monitoring is None else map(monitoring.get_tool, range(6))
    if any((sys.gettrace(), sys.getprofile(), *tools)):
        return
    with suppress(Exception, KeyboardInterrupt):
        threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
