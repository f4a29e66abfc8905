"""How every command of `wikisum` reads its options, before anything heavy is imported: settings, files, mistakes; and
`--help` of a build: one screen of common options, `--help SECTION` and `--help all` for the rest."""

import difflib
import re
import textwrap
import typing
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import App, ArgumentCollection, CycloptsError, Parameter, Token
from cyclopts.exceptions import UnknownOptionError, UnusedCliTokensError
from pydantic import BeforeValidator, ValidationError, WrapValidator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from flows.config import BuildConfig, in_sections, merge
from flows.running.settings_file import SettingsFile, read_settings
from storage.redaction import redacted
from tasks.engine.data_files import read_data
from tasks.engine.settings import Settings, message_of

S = TypeVar("S", bound=Settings)
_ALL = "all"
_HELP = read_data("flows.running", "help.toml")


class Stopped(Exception):  # noqa: N818 - no error of the program: a run ended, and the message says why
    """A command ended early; the message is for people."""


class CommandLine(BuildConfig):
    """Options of the commands that build: every field of the configuration, and how to run."""

    config: Annotated[Path | None, Parameter(allow_repeating=False)] = None
    """YAML file of settings; options override it"""
    dry_run: bool = False
    """print what is done, what would run, and why; compute nothing"""
    verify: bool = False
    """first read every file below the root; what is damaged is computed again"""

    recompute_changed_libraries: bool = False
    """make again what other versions of the libraries made that decide it"""

    @property
    def build(self) -> BuildConfig:
        """The configuration of the build."""
        return BuildConfig.model_validate(self.model_dump(exclude=set(OWN), exclude_unset=True))


OWN = frozenset(CommandLine.model_fields) - frozenset(BuildConfig.model_fields)  # of the command line alone


def as_written(given: Any) -> Any:
    """Return options with `null` as no value, and with lists for values that commas separate."""
    if isinstance(given, dict):
        return {name: as_written(value) for name, value in given.items()}
    if isinstance(given, list):
        parts: list[Any] = []
        for item in given:
            if isinstance(item, str):
                parts += [part.strip() for part in item.split(",")] if item else []
            else:
                parts += item if isinstance(item, list) else [item]
        return parts
    return None if given == "null" else given


def _over_the_file(given: Any, validate: Callable[[Any], CommandLine]) -> CommandLine:
    """Put options over the settings of the file that they name; a mistake of the file is shown with its line."""
    values = as_written(given)
    file = _file_of(values.get("config"))
    try:
        given = merge(_in_sections(file), in_sections(values))
        _check_warmups(given)
        return validate(given)
    except ValidationError as error:
        raise ValueError(explain(error, lambda place: None if _holds(values, place) else file.line(place))) from error


_WARMUPS = {"training": "steps", "attention": "steps", "retraining": "summarizer_steps"}  # section -> its length


def _check_warmups(given: dict[str, Any]) -> None:
    """Refuse a warm-up and fewer steps in one command. A preset's warm-up may be longer: a run with few steps is often
    the beginning of a longer one."""
    for section, length in _WARMUPS.items():
        values = given.get(section)
        if not isinstance(values, dict) or "warmup" not in values or length not in values:
            continue
        warmup, steps = (int(text) if (text := str(values[name])).isdecimal() else 0 for name in ("warmup", length))
        if warmup > steps > 0:
            raise ValueError(
                f"{section}.warmup is {warmup}: expected at most {section}.{length}, which is {steps}, or the learning "
                "rate does not reach its peak"
            )


def _in_sections(file: SettingsFile) -> dict[str, Any]:
    """Return a file's settings in sections, so that an option goes over a setting however the file names it."""
    try:
        return in_sections(file.values)
    except ValueError as error:
        raise ValueError(f"--config {file.name}: {error}") from error


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


app = App(
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
    return redacted(str(error))


def _names(arguments: ArgumentCollection) -> list[str]:
    return [name for argument in arguments for name in argument.names]


def explain(error: ValidationError, line: Callable[[Sequence[str | int]], str | None] = lambda _: None) -> str:
    """Return an error as one line per setting: name, value, what is expected; `line` finds the line in the file."""
    lines = []
    for problem in error.errors():
        name = ".".join(str(part) for part in problem["loc"])
        message = message_of(problem)
        # The message of a rule over several settings names their values itself; its input is the whole section.
        whole = problem["type"] == "missing" or isinstance(problem["input"], dict | Settings)
        given = None if whole else f"given: {redacted(repr(problem['input']))}"
        notes = ", ".join(note for note in (given, line(problem["loc"])) if note)
        lines.append(f"{name + ': ' if name else ''}{message}{f' ({notes})' if notes else ''}")
    return "\n".join(lines)


def print_help(program: str, settings: type[Settings], asked: Sequence[str], console: Console) -> None:
    """Print the help of sections, settings, or `all`; none = the first screen. ValueError: no such section."""
    fields, presets = dict(options(settings)), preset_settings(settings)
    if not asked:
        _print_first_screen(program, fields, presets, console)
        return
    for name in asked:
        wanted = name.removeprefix("--").replace("-", "_")
        matches = [
            candidate
            for candidate in fields
            if wanted == _ALL or candidate == wanted or candidate.startswith(f"{wanted}.")
        ]
        if not matches:
            raise ValueError(f"--help {name}: no such section or setting{similar(wanted, _with_sections(fields))}")
        for candidate in matches:
            _print_setting(candidate, fields[candidate], presets, console)


def options(settings: type[Settings], above: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield the dotted names and fields of all settings, nested sections included."""
    for name, field in settings.model_fields.items():
        section = _section(field.annotation)
        if section is None:
            yield above + name, field
        else:
            yield from options(section, f"{above}{name}.")


def _section(annotation: Any) -> type[Settings] | None:
    # The names in a dictionary are not ours.
    kinds = () if typing.get_origin(annotation) is dict else (annotation, *typing.get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Settings)), None)


def _with_sections(names: Iterable[str]) -> list[str]:
    """Return settings and the sections around them, as options, in the order of the pipeline."""
    ends = ((name, end) for name in names for end in (*[m.start() for m in re.finditer(r"\.", name)], len(name)))
    return list(dict.fromkeys(f"--{dashed(name[:end])}" for name, end in ends))


def similar(name: str, names: Collection[str]) -> str:
    """Return a hint with the options that end in the same word as a name, common ones first, or that look like it."""
    wanted = f"--{dashed(name.lstrip('-'))}"

    def rank(option: str) -> tuple[bool, str]:
        name = option.lstrip("-").replace("-", "_")
        return not any(name in names for names in _HELP["first"].values()), name  # those of the first screen come first

    same_end = sorted((name for name in names if _last_word(name) == _last_word(wanted)), key=rank)
    results = list(dict.fromkeys([*same_end[:3], *difflib.get_close_matches(wanted, names, n=3)]))
    return f"; similar: {', '.join(results)}" if results else "; --help lists them"


def _last_word(option: str) -> str:
    return option.lstrip("-").rpartition(".")[2]


def preset_settings(settings: type[Settings]) -> dict[str, Settings]:
    """Return the settings of each preset; the default one is the first."""
    field = settings.model_fields["preset"]
    names = dict.fromkeys([field.default, *choices_of(field)])
    return {name: settings.model_validate({"preset": name}) for name in names}


def _print_first_screen(
    program: str, fields: dict[str, FieldInfo], presets: dict[str, Settings], console: Console
) -> None:
    console.print(f"usage: {escape(program)} \\[--SETTING VALUE ...]\n")
    preset = next(iter(presets))
    for title, names in _HELP["first"].items():
        console.print(f"[bold]{title}[/bold]")
        for name in names:
            field = fields[name]
            choices = " | ".join(choices_of(field)) or (field.description or "").split(";")[0]
            value = shown_value(name, field, presets[preset])
            line = f"  --{dashed(name):<22} {escape(choices)} [dim]\\[{escape(value)}][/dim]"
            console.print(line, no_wrap=True, overflow="ellipsis")
    counts = Counter(name.partition(".")[0] for name in fields if "." in name)
    console.print(f"[dim]In brackets: the default, with the preset {preset}.[/dim]")
    console.print("[bold]examples[/bold]")
    for arguments, comment in _HELP["examples"].items():
        console.print(f"  {program} {arguments}".rstrip() + f"  [dim]# {comment}[/dim]", soft_wrap=True)
    console.print("[bold]more[/bold]: --help SECTION, or --help all")
    listed = ", ".join(f"{dashed(name)} ({count})" for name, count in counts.items())
    console.print(Padding(listed, (0, 0, 0, 2)))


def _print_setting(name: str, field: FieldInfo, presets: dict[str, Settings], console: Console) -> None:
    default, *others = {preset: shown_value(name, field, settings) for preset, settings in presets.items()}.items()
    differing = ", ".join(f"{value} with {preset}" for preset, value in others if value != default[1])
    values = f"{default[1]}; {differing}" if differing else default[1]
    console.print(f"--{dashed(name)} [dim]\\[{escape(values)}][/dim]", soft_wrap=True)
    choices = choices_of(field)
    text = (field.description or "") + (f" ({' | '.join(choices)})" if choices else "")
    console.print(Padding(escape(text), (0, 0, 0, 4)))


def choices_of(field: FieldInfo) -> list[str]:
    """Return the words that a setting takes; none if it takes other values."""
    return [choice for choice in typing.get_args(field.annotation) if isinstance(choice, str)]


def shown_value(name: str, field: FieldInfo, settings: Settings) -> str:
    """Return the value of a setting, as one writes it."""
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part, PydanticUndefined)
    if value is PydanticUndefined:  # of a section that is off
        value = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return "off until given"  # only sections that are off have fields without a default
    if value is None:
        return "null"
    if value in ((), {}, ""):
        return "empty"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def dashed(name: str) -> str:
    """Return the name of a setting as an option writes it."""
    return name.replace("_", "-")
