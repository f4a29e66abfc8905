"""The command line, read before anything heavy is imported: the fields of BuildConfig as options, help, mistakes."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field
from pydantic_settings import CliSettingsSource
from rich.console import Console
from rich.markup import escape

from flows.config import BuildConfig, merge
from flows.running.help import check_names, print_help
from flows.running.mistakes import explain


class CommandLine(BuildConfig):
    """Options of the command line: every field of the configuration, and how to run."""

    config: Path | None = Field(None, description="YAML file of settings; options given beside it win")
    dry_run: bool = Field(False, description="print stages, shards, what is done and what would run; compute nothing")
    verify: bool = Field(False, description="first read every file below the root; what is damaged is computed again")


@dataclass(frozen=True)
class Command:
    """The command line, read and checked.

    Attributes:
        program: name of the command.
        options: every option.
    """

    program: str
    options: CommandLine

    @property
    def config(self) -> BuildConfig:
        """The configuration of the build."""
        own = set(CommandLine.model_fields) - set(BuildConfig.model_fields)
        return BuildConfig.model_validate(self.options.model_dump(exclude=own, exclude_unset=True))


def read_command(program: str) -> Command:
    """Read the command line of this process; `--help` and mistakes are answered here, and end it.

    Args:
        program: name of the command, for the usage line.

    Raises:
        SystemExit: help was printed (0), or settings are wrong (2).
    """
    arguments = sys.argv[1:]
    try:
        if not {"-h", "--help"}.isdisjoint(arguments):
            topics = [argument for argument in arguments if argument not in ("-h", "--help")]
            print_help(program, CommandLine, topics, Console())
            sys.exit(0)
        return Command(program, parse(program, arguments))
    except (ValueError, FileNotFoundError) as error:
        errors = Console(stderr=True, soft_wrap=True)
        errors.print(f"[red]{program}: settings are wrong[/red]\n{escape(explain(error))}", highlight=False)
        sys.exit(2)


def parse(program: str, arguments: list[str]) -> CommandLine:
    """Read options and the file they name.

    Raises:
        ValidationError: a setting has a bad value.
        FileNotFoundError: the file does not exist.
        ValueError: there is no such setting, or the file is not YAML or does not contain settings.
    """
    source: CliSettingsSource[Any] = CliSettingsSource(
        CommandLine,  # type: ignore[arg-type]  # any pydantic model will do; the stub asks for BaseSettings
        cli_prog_name=program,
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_avoid_json=True,
        cli_hide_none_type=True,
        cli_parse_none_str="null",  # as in YAML
    )
    check_names(CommandLine, arguments)
    values = source(args=arguments)()
    file = values.get("config")
    under: dict[str, Any] = {}
    if file is not None:
        under = _settings_in(file)
    return CommandLine.model_validate(merge(under, values))


def _settings_in(file: str) -> dict[str, Any]:
    path = Path(file)
    if not path.is_file():
        raise FileNotFoundError(f"--config {file}: no such file")
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"--config {file}: expected UTF-8, got the byte {error.object[error.start]:#04x}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"--config {file}: expected YAML, but {' '.join(str(error).split())}") from error
    if settings is None:  # an empty file
        return {}
    if not isinstance(settings, dict):
        raise ValueError(
            f"--config {file}: expected names of settings and their values, got a {type(settings).__name__}: "
            f"{repr(settings)[:80]}"
        )
    return settings
