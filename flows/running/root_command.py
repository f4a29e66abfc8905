"""The command line of the commands other than builds, such as prune, promote, verify and export."""

import argparse
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from flows.running.mistakes import explain
from storage.errors import StorageError
from tasks.engine.settings import Settings

S = TypeVar("S", bound=Settings)
ROOT: Mapping[str, Mapping[str, Any]] = {
    "--root": {"default": "data", "help": "folder or URI everything is written below (default: data)"}
}
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
    return read_options(program, about, {**ROOT, **options}, sys.argv[1:])


def read_options(
    program: str, about: str | None, options: Mapping[str, Mapping[str, Any]], arguments: Sequence[str]
) -> argparse.Namespace:
    """Read options, as `read_root_options` does, from `arguments`."""
    parser = argparse.ArgumentParser(prog=program, description=about)
    parser.set_defaults(program=program)
    _add(parser, options)
    return parser.parse_args(arguments)


def read_action_options(
    program: str, about: str | None, actions: Mapping[str, tuple[str, Mapping[str, Mapping[str, Any]]]]
) -> argparse.Namespace:
    """Read the command line of a command with several actions; the chosen one is the field `action`.

    Args:
        program: name of the command.
        about: its description, for the help.
        actions: name -> description and options (arguments of `add_argument`).

    Raises:
        SystemExit: help was printed (0), or an option is wrong (2).
    """
    parser = argparse.ArgumentParser(prog=program, description=about)
    chosen = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action, (help_, options) in actions.items():
        action_parser = chosen.add_parser(action, help=help_, description=help_)
        action_parser.set_defaults(program=f"{program} {action}")
        _add(action_parser, options)
    return parser.parse_args()


def _add(parser: argparse.ArgumentParser, options: Mapping[str, Mapping[str, Any]]) -> None:
    for name, details in options.items():
        parser.add_argument(name, **details)


def options_of(settings: type[Settings]) -> dict[str, dict[str, Any]]:
    """Return the fields of a section of settings as options; the section checks the values that are given.

    A field without a value is left out of the namespace; lists are written with commas, no value as `null`.
    """
    return {
        f"--{name.replace('_', '-')}": {
            "dest": name,
            "default": argparse.SUPPRESS,
            "metavar": name.upper(),
            "help": f"{info.description}{_default(info.default)}".replace("%", "%%"),
        }
        for name, info in settings.model_fields.items()
    }


def settings_from(settings: type[S], options: argparse.Namespace) -> S:
    """Return the section of settings with the options that were given.

    Raises:
        ValueError: a value is wrong; the message names the setting and what was expected.
    """
    fields = settings.model_fields
    try:
        return settings.model_validate(
            {name: _value(fields[name].default, text) for name, text in vars(options).items() if name in fields}
        )
    except ValidationError as error:
        raise ValueError(f"settings are wrong\n{textwrap.indent(explain(error), '  ')}") from error


def _value(default: Any, text: str) -> str | tuple[str, ...] | None:
    if text == "null":
        return None
    return tuple(text.split(",")) if isinstance(default, tuple) else text


def _default(value: Any) -> str:
    shown = ",".join(value) if isinstance(value, tuple) else str(value)
    return f" (default: {shown})" if shown else ""


def run_on_root(options: argparse.Namespace, act: Callable[[argparse.Namespace], int]) -> int:
    """Act on the root; return the exit code: 1 for an error, 130 after a Ctrl-C.

    Args:
        options: the options of the command line.
        act: runs the command and returns the exit code.
    """
    try:
        return act(options)
    except (StorageError, ValueError, ConnectionError) as error:
        print(f"{options.program} stopped: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{options.program} interrupted: run the same command again to continue", file=sys.stderr)
        return _INTERRUPTED
