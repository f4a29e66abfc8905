"""`--help`: one screen of what people change, `--help SECTION` and `--help all` for the rest; and unknown options."""

import difflib
import re
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from tasks.engine.settings import Settings

# What most people change, in the order of the pipeline; the rest is one `--help SECTION` away.
_FIRST = {
    "what and where": ("preset", "root", "seed", "engine.workers", "shards.articles"),
    "corpus": ("source.kind", "source.records.paths", "search.provider", "crawl.contact", "crawl.archive"),
    "ranker and summarizer": ("ranking.keep", "summarizer.preset", "training.steps", "engine.device"),
    "summaries": ("decoding.beam",),
    "this run": ("config", "dry_run", "verify"),
}
_EXAMPLES = (
    ("", "the embedded web and small models: see everything work"),
    ("--preset records --source.records.paths articles.jsonl --crawl.contact you@example.org", "your own articles"),
    ("--config settings.yaml --engine.device cuda", "settings from a file; options given beside it win"),
    ("--dry-run", "what is done, what would be computed, and what that costs"),
)
_ALL = "all"


def print_help(program: str, settings: type[Settings], asked: Sequence[str], console: Console) -> None:
    """Print the first screen, or what is said of the sections asked for.

    Args:
        program: how people call it.
        settings: every option.
        asked: sections, single settings, or `all`; none = the first screen.

    Raises:
        ValueError: there is no such section or setting; names those that are near.
    """
    fields = dict(options(settings))
    if not asked:
        _print_first_screen(program, fields, console)
        return
    for name in asked:
        wanted = name.removeprefix("--").replace("-", "_")
        found = [each for each in fields if wanted == _ALL or each == wanted or each.startswith(f"{wanted}.")]
        if not found:
            raise ValueError(f"--help {name}: no such section or setting{_near(wanted, _sections(fields))}")
        for each in found:
            _print_setting(each, fields[each], console)


def options(settings: type[Settings], above: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Yield dotted names of settings and their fields, sections taken apart."""
    for name, field in settings.model_fields.items():
        section = _section(field.annotation)
        if section is None:
            yield above + name, field
        else:
            yield from options(section, f"{above}{name}.")


def check_names(settings: type[Settings], arguments: Sequence[str]) -> None:
    """See that every option exists.

    Raises:
        ValueError: one does not; names those that are near.
    """
    known = set(_sections(name for name, _ in options(settings)))
    for argument in arguments:
        if not argument.startswith("--") or argument == "--":
            continue
        name = argument[2:].partition("=")[0].replace("-", "_")
        if name not in known and name.removeprefix("no_") not in known:
            raise ValueError(f"{argument.partition('=')[0]}: no such setting{_near(name, known)}")


def _section(annotation: Any) -> type[Settings] | None:
    for each in (annotation, *typing.get_args(annotation)):
        if isinstance(each, type) and issubclass(each, Settings):
            return each
    return None


def _sections(names: Iterable[str]) -> list[str]:
    """Return settings and the sections around them, in the order of the pipeline."""
    ends = ((name, end) for name in names for end in (*[m.start() for m in re.finditer(r"\.", name)], len(name)))
    return list(dict.fromkeys(name[:end] for name, end in ends))


def _near(name: str, known: typing.Collection[str]) -> str:
    """Return the names that are near in writing, or that end in the same word."""
    last = name.rpartition(".")[2]
    same_end = [each for each in sorted(known, key=_rank) if each.rpartition(".")[2] == last]
    near = list(dict.fromkeys([*same_end[:3], *difflib.get_close_matches(name, known, n=3)]))
    return f"; near it: {', '.join('--' + _dashed(each) for each in near)}" if near else "; --help lists them"


def _rank(name: str) -> tuple[bool, str]:
    """Sort what stands on the first screen in front."""
    return not any(name in names for names in _FIRST.values()), name


def _print_first_screen(program: str, fields: dict[str, FieldInfo], console: Console) -> None:
    console.print(f"usage: {program} \\[--SETTING VALUE ...]\n", highlight=False)
    for title, names in _FIRST.items():
        console.print(f"[bold]{title}[/bold]", highlight=False)
        for name in names:
            field = fields[name]
            said = " | ".join(_choices(field)) or (field.description or "").split(";")[0]
            console.print(
                f"  --{_dashed(name):<22} {escape(said)} [dim]\\[{escape(_default(field))}][/dim]",
                highlight=False, no_wrap=True, overflow="ellipsis",
            )  # fmt: skip
    counts = Counter(name.partition(".")[0] for name in fields if "." in name)
    console.print("[dim]In brackets: what holds where neither the preset nor you say otherwise.[/dim]", highlight=False)
    console.print("[bold]examples[/bold]", highlight=False)
    for arguments, what in _EXAMPLES:
        console.print(f"  {program} {arguments}".rstrip() + f"  [dim]# {what}[/dim]", highlight=False, soft_wrap=True)
    console.print("[bold]more[/bold]: --help SECTION, or --help all", highlight=False)
    listed = ", ".join(f"{_dashed(name)} ({count})" for name, count in counts.items())
    console.print(Padding(listed, (0, 0, 0, 2)), highlight=False)


def _print_setting(name: str, field: FieldInfo, console: Console) -> None:
    console.print(f"--{_dashed(name)} [dim]\\[{escape(_default(field))}][/dim]", highlight=False, soft_wrap=True)
    choices = _choices(field)
    text = (field.description or "") + (f" ({' | '.join(choices)})" if choices else "")
    console.print(Padding(escape(text), (0, 0, 0, 4)), highlight=False)


def _choices(field: FieldInfo) -> list[str]:
    return [choice for choice in typing.get_args(field.annotation) if isinstance(choice, str)]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return "must be given"
    if value is None or value in ((), {}, ""):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
