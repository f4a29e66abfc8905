"""The command line of the commands on a root other than builds: prune, promote, verify."""

import argparse
import sys
from collections.abc import Callable

from storage.errors import StorageError

_INTERRUPTED = 130


def run_on_root(
    program: str,
    about: str | None,
    options: Callable[[argparse.ArgumentParser], None],
    act: Callable[[argparse.Namespace], int],
) -> int:
    """Parse the options and act on the root; return the exit code: 1 for an error, 130 after a Ctrl-C.

    Args:
        program: name of the command.
        about: its description, for the help.
        options: adds further options to `--root`.
        act: runs the command and returns the exit code.
    """
    parser = argparse.ArgumentParser(prog=program, description=about)
    parser.add_argument("--root", default="data", help="folder or URI everything is written below (default: data)")
    options(parser)
    arguments = parser.parse_args()
    try:
        return act(arguments)
    except (StorageError, ValueError) as error:
        print(f"{program} stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{program} interrupted: run the same command again to continue", file=sys.stderr)
        return _INTERRUPTED
