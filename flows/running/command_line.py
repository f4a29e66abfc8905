"""How every command of `wikisum` reads its options, before anything heavy is imported: settings, files, mistakes."""

import textwrap
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import App, ArgumentCollection, CycloptsError, Parameter, Token
from cyclopts.exceptions import UnknownOptionError, UnusedCliTokensError
from pydantic import BeforeValidator, ValidationError, WrapValidator
from rich.console import Console
from rich.text import Text

from flows.config import BuildConfig, merge
from flows.running.help import similar
from flows.running.settings_file import SettingsFile, read_settings
from tasks.engine.settings import Settings

S = TypeVar("S", bound=Settings)


class Stopped(Exception):  # noqa: N818 - no error of the program: a run ended, and the message says why
    """A command ended early; the message is for people."""


class CommandLine(BuildConfig):
    """Options of the commands that build: every field of the configuration, and how to run."""

    config: Path | None = None
    """YAML file of settings; options given beside it win"""
    dry_run: bool = False
    """print what is done, what would run, and why; compute nothing"""
    verify: bool = False
    """first read every file below the root; what is damaged is computed again"""

    @property
    def build(self) -> BuildConfig:
        """The configuration of the build."""
        return BuildConfig.model_validate(self.model_dump(exclude=set(OWN), exclude_unset=True))


OWN = frozenset(CommandLine.model_fields) - frozenset(BuildConfig.model_fields)  # of the command line alone


def as_written(given: Any) -> Any:
    """Return options with `null` as no value, and with lists where commas stand between values of a list."""
    if isinstance(given, dict):
        return {name: as_written(value) for name, value in given.items()}
    if isinstance(given, list):
        return [part for one in given for part in _parts(one)]
    return None if given == "null" else given


def _parts(value: Any) -> list[Any]:
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    return [part.strip() for part in value.split(",")] if value else []


def _over_the_file(given: Any, validate: Callable[[Any], CommandLine]) -> CommandLine:
    """Put options over the settings of the file that they name; a mistake of the file is shown with its line."""
    values = as_written(given)
    file = _file_of(values.get("config"))
    try:
        return validate(merge(file.values, values))
    except ValidationError as error:
        raise ValueError(explain(error, lambda place: None if _holds(values, place) else file.line(place))) from error


def _file_of(name: str | None) -> SettingsFile:
    if name is None:
        return SettingsFile("", {}, {})
    try:
        file = read_settings(name)
    except ValueError as error:
        raise ValueError(f"--config {error}") from error
    for own in OWN & file.values.keys():
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


# Fields of settings as options of a command; `Given` is a build's, with its file, `Section` those of any section.
_FIELDS = Parameter(name="*", negative_iterable="")
Given = Annotated[CommandLine, WrapValidator(_over_the_file), _FIELDS]
Section = Annotated[S, BeforeValidator(as_written), _FIELDS]
NOTHING_GIVEN = CommandLine()


def new_app() -> App:
    """Return the command `wikisum`, as yet without its parts."""
    return App(
        name="wikisum",
        help="Build a WikiSum-like corpus, train summarizers on it, and measure whether what they write is true.",
        help_format="plaintext",
        version=lambda: version("wikisum"),
        config=_settings_are_given,
        default_parameter=Parameter(allow_repeating=True),  # the last one counts
        error_console=Console(stderr=True, soft_wrap=True, highlight=False),
        error_formatter=_in_two_lines,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )


def _settings_are_given(_app: App, _command: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Have settings read as a whole although no option gives one: else the library checks each default by itself."""
    for argument in arguments:
        if argument.children and not argument.keys and not argument.has_tokens:
            argument.append(Token(implicit_value={}, source="default"))


def _in_two_lines(error: CycloptsError) -> Text:
    """Return where the mistake is and what it is, with the names that may have been meant."""
    program = " ".join(["wikisum", *(error.command_chain or ())])
    message = textwrap.indent(what_is_wrong(error), "  ")
    return Text.assemble((program, "red"), f": this is not understood; {program} --help explains\n{message}")


def what_is_wrong(error: CycloptsError) -> str:
    """Return a mistake in words for people, a line for each wrong setting."""
    if isinstance(error.__cause__, ValidationError):
        return explain(error.__cause__)
    if isinstance(error, UnknownOptionError):
        name = error.token.keyword or error.token.value
        return f"{name}: no such option{similar(name, _names(error.argument_collection))}"
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens and error.app is not None:
        near = similar(error.unused_tokens[0], _names(error.app.assemble_argument_collection()))
        return f"{' '.join(error.unused_tokens)}: expected --OPTION VALUE{near}"
    return str(error)


def _names(arguments: ArgumentCollection) -> list[str]:
    return [name for argument in arguments for name in argument.names]


Line = Callable[[Sequence[str | int]], str | None]


def explain(error: ValidationError, line: Line = lambda place: None) -> str:
    """Return an error as one line per setting: name, value, what is expected; `line` finds the line in the file."""
    lines = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        # The message of a rule over several settings names their values itself; its input is the whole section.
        whole = problem["type"] == "missing" or isinstance(problem["input"], dict | Settings)
        given = None if whole else f"given: {problem['input']!r}"
        notes = ", ".join(note for note in (given, line(problem["loc"])) if note)
        lines.append(f"{name + ': ' if name else ''}{message}{f' ({notes})' if notes else ''}")
    return "\n".join(lines)
