"""The command line, read before anything heavy is imported: the fields of BuildConfig as options, help, mistakes."""

import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_settings import CliSettingsSource, SettingsError
from rich.console import Console
from rich.markup import escape

from flows.config import BuildConfig, merge
from flows.running.help import check_names, print_help, similar_options
from flows.running.mistakes import explain
from flows.running.settings_file import SettingsFile, read_settings


class CommandLine(BuildConfig):
    """Options of the command line: every field of the configuration, and how to run."""

    config: Path | None = Field(None, description="YAML file of settings; options given beside it win")
    dry_run: bool = Field(False, description="print what is done, what would run, and why; compute nothing")
    verify: bool = Field(False, description="first read every file below the root; what is damaged is computed again")


_OWN = frozenset(CommandLine.model_fields) - frozenset(BuildConfig.model_fields)  # of the command line alone


@dataclass(frozen=True)
class Command:
    """The command line, read and checked.

    Attributes:
        program: name of the command.
        options: every option.
        words: what stood before the options.
    """

    program: str
    options: CommandLine
    words: tuple[str, ...] = ()

    @property
    def config(self) -> BuildConfig:
        """The configuration of the build."""
        return BuildConfig.model_validate(self.options.model_dump(exclude=set(_OWN), exclude_unset=True))


def read_command(program: str, words: Sequence[str] = ()) -> Command:
    """Read the command line of this process; `--help` and mistakes are answered here, and end it.

    Args:
        program: name of the command, for the usage line.
        words: what may stand before the options, for a command that can do a part of its work.

    Raises:
        SystemExit: help was printed (0), or settings are wrong (2).
    """
    count = next((number for number, one in enumerate(sys.argv[1:]) if one not in words), len(sys.argv) - 1)
    chosen, arguments = tuple(sys.argv[1 : 1 + count]), sys.argv[1 + count :]
    try:
        if not {"-h", "--help"}.isdisjoint(arguments):
            topics = [argument for argument in arguments if argument not in ("-h", "--help")]
            usage = f"{program} [{'|'.join(words)}]" if words else program
            print_help(program, CommandLine, topics, Console(), usage=usage)
            sys.exit(0)
        return Command(program, parse(program, arguments, words), chosen)
    except ValueError as error:
        errors = Console(stderr=True, soft_wrap=True)
        message = explain(error) if isinstance(error, ValidationError) else str(error)
        errors.print(
            f"[red]{program}: settings are wrong[/red]\n{escape(textwrap.indent(message, '  '))}", highlight=False
        )
        sys.exit(2)


def parse(program: str, arguments: list[str], words: Sequence[str] = ()) -> CommandLine:
    """Read options and the file they name.

    Raises:
        ValueError: there is no such option, a setting has a bad value, or the file cannot be read, is not YAML or does
            not contain settings; the message has a line per mistake.
    """
    source: CliSettingsSource[Any] = CliSettingsSource(
        CommandLine,  # type: ignore[arg-type]  # any pydantic model will do; the stub asks for BaseSettings
        cli_prog_name=program,
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_avoid_json=True,
        cli_hide_none_type=True,
        cli_parse_none_str="null",  # as in YAML
        cli_exit_on_error=False,  # argparse would print every option before the mistake
    )
    check_names(CommandLine, arguments)
    try:
        values = source(args=arguments)()
    except SettingsError as error:
        raise ValueError(_what_is_wrong(str(error), words)) from error
    file = _file_of(values.get("config"))
    try:
        return CommandLine.model_validate(merge(file.values, values))
    except ValidationError as error:
        raise ValueError(explain(error, lambda place: None if _holds(values, place) else file.line(place))) from error


def _what_is_wrong(message: str, words: Sequence[str]) -> str:
    """Return the library's message in words for people, with the options that are meant."""
    message = message.removeprefix("error parsing CLI: ")
    unknown = message.partition("unrecognized arguments: ")[2]
    if not unknown:
        return message
    first = unknown.split()[0]
    if first in words:
        return f"{unknown}: expected before the options"
    return f"{unknown}: expected {', '.join([*words, '--SETTING VALUE'])}{similar_options(CommandLine, first)}"


def _file_of(name: str | None) -> SettingsFile:
    if name is None:
        return SettingsFile("", {}, {})
    try:
        file = read_settings(name)
    except ValueError as error:
        raise ValueError(f"--config {error}") from error
    for own in _OWN & file.values.keys():
        raise ValueError(
            f"--config {file.line([own])}: {own} is an option of the command line alone, expected settings of the build"
        )
    return file


def _holds(values: Any, place: Sequence[str | int]) -> bool:
    """Whether the value at a place was given on the command line."""
    for part in place:
        if not isinstance(values, dict) or part not in values:
            return not isinstance(values, dict)
        values = values[part]
    return True
