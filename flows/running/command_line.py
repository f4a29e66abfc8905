"""`python -m flows.NAME`: the fields of BuildConfig as options; no running Prefect server is needed."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import yaml
from pydantic import Field, ValidationError
from pydantic_settings import CliSettingsSource
from rich.console import Console
from rich.markup import escape

from flows.config import BuildConfig, merge
from flows.running.help import check_names, print_help
from flows.running.machine import check_machine
from flows.running.plan_table import show_plan
from flows.running.session import Session, holding, planning_session
from flows.running.temporary_server import use_prefect_api
from flows.verify import verify_held
from storage.errors import CorruptShardError, StorageError
from storage.store import Store
from tasks.engine.settings import Settings
from tasks.engine.stage import StageFailedError


class CommandLine(BuildConfig):
    """Options of the command line: every field of the configuration, and how to run."""

    config: Path | None = Field(None, description="YAML file of settings; options given beside it win")
    dry_run: bool = Field(False, description="print stages, shards, what is done and what would run; compute nothing")
    verify: bool = Field(False, description="first read every file below the root; what is damaged is computed again")


def main(program: str, run: Callable[[BuildConfig], Any], wiring: Callable[[Session], Any]) -> int:
    """Parse the options, then plan or run; return the exit code.

    Args:
        program: name of the command, for the usage line.
        run: the flow.
        wiring: the flow's walk, for `--dry-run`.
    """
    errors = Console(stderr=True, soft_wrap=True)
    try:
        if not {"-h", "--help"}.isdisjoint(sys.argv[1:]):
            topics = [argument for argument in sys.argv[1:] if argument not in ("-h", "--help")]
            print_help(program, CommandLine, topics, Console())
            return 0
        options = parse(program, sys.argv[1:])
    except (ValueError, FileNotFoundError) as error:
        errors.print(f"[red]{program}: settings are wrong[/red]\n{escape(explain(error))}", highlight=False)
        return 2
    signal.signal(signal.SIGTERM, _stop)
    config = BuildConfig.model_validate(options.model_dump(exclude={"config", "dry_run", "verify"}, exclude_unset=True))
    try:
        if options.dry_run:
            show_plan(config, wiring, Console())
            return 0
        with checked(config, wiring) as store:
            if options.verify:
                _, summary = verify_held(store, dry_run=False)
                errors.print(escape(summary), highlight=False)
            use_prefect_api()
            result = run(config)
        if isinstance(result, str):
            Console(soft_wrap=True).print(result, highlight=False, markup=False)
        return 0
    except (StorageError, StageFailedError, ValueError, FileNotFoundError, ConnectionError) as error:
        errors.print(f"[red]{program} stopped[/red]: {escape(str(error))}", highlight=False)
        return 1
    except KeyboardInterrupt:
        errors.print(f"{program} interrupted; finished shards are kept: run the same command again to continue")
        return 130


@contextmanager
def checked(config: BuildConfig, wiring: Callable[[Session], Any]) -> Iterator[Store]:
    """Check machine, root and inputs before a server is started, and hold the root during the block.

    Yields:
        The root.

    Raises:
        StorageError: the root cannot be written, or another run holds it.
        FileNotFoundError: an input is missing.
        ValueError: an input is not what the settings say.
    """
    check_machine(config)
    store = Store(config.root)
    store.check_writable()
    with holding(store):
        with suppress(CorruptShardError):  # the run repairs what is damaged
            planning_session(config).once(wiring)
        yield store


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Turn SIGTERM into an orderly end: running jobs are stopped, locks and servers released."""
    raise KeyboardInterrupt


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


def explain(error: Exception) -> str:
    """Return a validation error as one line per setting: its name, the given value, what is expected."""
    if not isinstance(error, ValidationError):
        return f"  {error}"
    lines = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        # The message of a rule over several settings names their values itself; its input is the whole section.
        whole = problem["type"] == "missing" or isinstance(problem["input"], dict | Settings)
        shown_input = "" if whole else f" (given: {problem['input']!r})"
        lines.append(f"  {name + ': ' if name else ''}{message}{shown_input}")
    return "\n".join(lines)
