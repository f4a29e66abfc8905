"""The command line of the commands on a root other than builds: prune, promote, verify, export."""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Any

from storage.errors import StorageError

_INTERRUPTED = 130


def read_root_options(program: str, about: str | None, options: Mapping[str, Mapping[str, Any]]) -> argparse.Namespace:
    """Read the command line of this process; `--help` and mistakes are answered here, and end it.

    Args:
        program: name of the command.
        about: its description, for the help.
        options: further options besides `--root`: name -> arguments of `add_argument`.

    Raises:
        SystemExit: help was printed (0), or an option is wrong (2).
    """
    parser = argparse.ArgumentParser(prog=program, description=about)
    parser.set_defaults(program=program)
    parser.add_argument("--root", default="data", help="folder or URI everything is written below (default: data)")
    for name, details in options.items():
        parser.add_argument(name, **details)
    return parser.parse_args()


def run_on_root(options: argparse.Namespace, act: Callable[[argparse.Namespace], int]) -> int:
    """Act on the root; return the exit code: 1 for an error, 130 after a Ctrl-C.

    Args:
        options: the options of the command line.
        act: runs the command and returns the exit code.
    """
    try:
        return act(options)
    except (StorageError, ValueError) as error:
        print(f"{options.program} stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{options.program} interrupted: run the same command again to continue", file=sys.stderr)
        return _INTERRUPTED
