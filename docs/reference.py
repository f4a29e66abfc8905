"""Write the reference pages from the code: settings, stages, reasons, metrics, summarizers and commands.

    python -m docs.reference

It also draws the DAG anew as `stages.svg`, from plans of builds: what each stage reads is
seen while it is planned. A test compares the pages with what this writes."""

import ast
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from cyclopts import App, Argument

from docs.stage_graph import draw_stages
from flows import dag
from flows.config import BuildConfig
from flows.running.command_line import OWN, dashed, options, preset_settings, shown_value
from flows.running.commands import BUILDS, app
from flows.running.session import planning_session
from models.__main__ import count_parameters, describe
from models.presets import PRESETS, check_library
from storage.schemas import DATASETS
from tasks.evaluation.metrics import METRICS
from tasks.reporting.stages import REPORTED_STAGES

PROJECT = Path(__file__).parents[1]
FOLDER = Path(__file__).with_suffix("")
_NOTE = "<!-- Written from the code by `python -m docs.reference`: change the code. -->"
# A remark in brackets that names a paper by its year, or what was released with one.
_CITED = re.compile(r" ?\(([^()]*(?:\b(?:19|20)\d\d[,:)]|released |\b(?:19|20)\d\d$)[^()]*)\)")
_TYPES = {str: "text", bool: "yes or no", NoneType: "null", dict: "mapping"}
_MEASURES = "seconds|days|requests|share|probability|0-1"
_COUNTS = (
    "bytes|mib|tokens|words|characters|pieces|steps|updates|batches|articles|pages|paragraphs|sentences|topics|lines|"
    "hosts|shards|threads|processes|connections|levels|hypotheses|checkpoints|people|results|weeks"
)
# Pages of settings: name -> title and the sections on it. A new section must be added here.
_SETTING_PAGES = {
    "running": ("How it runs", ("", "engine", "budget", "notification", "shards")),
    "source": ("Source of articles", ("source",)),
    "crawl": ("Search and crawl", ("search", "crawl")),
    "texts": ("Texts", ("extraction", "paragraphs", "across")),
    "ranking": ("Ranking and input", ("vocabulary", "ranker", "ranking", "graphs", "examples", "imported")),
    "training": ("Summarizer and training", ("summarizer", "training", "attention", "pretraining")),
    "writing": ("Decoding and language models", ("decoding", "writer")),
    "evaluation": ("Evaluation and retraining", ("baselines", "scoring", "report", "tables", "retraining")),
}
# What else people start.
_MODULES = ("models", "tasks.archives.warc_export")


def pages() -> dict[str, str]:
    """Return name of a page -> its Markdown."""
    return {
        **_setting_pages(),
        "stages.md": _page("Stages and their columns", _stages()),
        "reasons.md": _page("Reasons for refusing a row", _reasons()),
        "metrics.md": _page("Metrics", _metrics()),
        "summarizers.md": _page("Summarizers", _summarizers()),
        "commands.md": _page("Commands", _commands()),
        "../stages.svg": draw(),
    }


def _page(title: str, lines: Iterable[str]) -> str:
    return "\n".join([_NOTE, "", f"# {title}", "", *lines]).rstrip() + "\n"


def _setting_pages() -> dict[str, str]:
    """Return the pages of all settings, and their index."""
    tables = _setting_tables()
    pages = {}
    for name, (title, sections) in _SETTING_PAGES.items():
        lines = (line for section, table in tables.items() if section.split(".")[0] in sections for line in table)
        pages[f"settings/{name}.md"] = _page(f"Settings: {title}", lines)
    return {"settings/index.md": _page("Settings", _setting_index(tables)), **pages}


def _setting_index(tables: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield "Each setting is an option, `--section.name VALUE`, and a field of a settings file (`--config FILE`), with"
    yield "underscores. The pages show the default of the preset `miniweb`, and that of another preset if it"
    yield "differs. *Source* is the paper, or the code released with it, from which a number or an idea comes."
    yield ""
    pages = {section: page for page, (_, sections) in _SETTING_PAGES.items() for section in sections}
    rows = []
    for section, table in tables.items():
        heading = table[0].strip("\n# ")
        page = pages[section.split(".")[0]]
        anchor = heading.lower().replace(".", "").replace(" ", "-")
        rows.append((f"[{heading}]({page}.md#{anchor})", _section_meaning(section)))
    yield from _table(("section", "what it sets"), rows)


def _section_meaning(section: str) -> str:
    """Return the first sentence of the docstring of a section's class."""
    model: Any = BuildConfig
    for name in filter(None, section.split(".")):
        annotation = model.model_fields[name].annotation
        model = next(kind for kind in (annotation, *get_args(annotation)) if hasattr(kind, "model_fields"))
    return re.split(r"(?<=\.)\s", " ".join((model.__doc__ or "").split()))[0]


def _setting_tables() -> dict[str, list[str]]:
    """Return section -> the lines of its heading and table."""
    presets = preset_settings(BuildConfig)
    default, *others = presets
    sections: dict[str, list[Sequence[str]]] = {}
    for name, field in options(BuildConfig):
        values = {preset: shown_value(name, field, settings) for preset, settings in presets.items()}
        differing = [f"{preset}: {values[preset]}" for preset in others if values[preset] != values[default]]
        about, sources = field.description or "", _CITED.findall(field.description or "")
        row = (
            f"`--{dashed(name)}`",
            _type(field.annotation),
            "; ".join([values[default], *differing]),
            _unit(name, field.annotation, about),
            "; ".join(sources),
            _CITED.sub("", about),
        )
        sections.setdefault(name.rpartition(".")[0], []).append(row)
    heads = ("setting", "type", "default", "unit", "source", "meaning")
    return {
        section: [f"\n## {dashed(section) or 'The whole build'}\n", *_table(heads, rows)]
        for section, rows in sections.items()
    }


def _type(annotation: Any) -> str:
    """Return a type as people read it: `list of text or null`, or the words that a setting takes."""
    kind, parts = get_origin(annotation), get_args(annotation)
    if kind is Literal:
        return ", ".join(map(str, parts))
    if kind in (Union, UnionType):
        return " or ".join(map(_type, parts))
    if kind is Annotated:
        return _type(parts[0])
    if kind is tuple:
        return f"list of {_type(parts[0])}"
    return _TYPES.get(kind or annotation) or annotation.__name__


def _unit(name: str, annotation: Any, about: str) -> str:
    """Return the unit of a number: the first one in its name, else in the first clause of what it is."""
    kinds = {annotation, *get_args(annotation)}
    if kinds.isdisjoint({int, float}) or about.startswith(("which ", "weight ")):
        return ""
    section, _, own = name.rpartition(".")
    words = ("shards" if section == "shards" else own.replace("_", " "), re.split("[;:(]", about)[0])
    units = _MEASURES if float in kinds else f"{_MEASURES}|{_COUNTS}"
    match = re.search(rf"(?<![a-z])({units})(?![a-z])", " ".join(words))
    return match[0] if match else ""


def _stages() -> Iterator[str]:
    yield "A stage is a Parquet dataset; its version is part of every shard's key. The reason is null for kept rows."
    yield "[Architecture](../architecture.md) draws what reads what."
    for dataset in DATASETS.values():
        yield f"\n## {dataset.name}\n"
        grouped = f"; a row group for each value of `{dataset.grouped_by}`" if dataset.grouped_by else ""
        refused = f"; refused rows have a `{dataset.reason}`" if dataset.reason else ""
        yield f"Version {dataset.version}{grouped}{refused}.\n"
        rows = [
            (f"`{field.name}`", str(field.type), (field.metadata or {}).get(b"doc", b"").decode())
            for field in dataset.schema
        ]
        yield from _table(("column", "type", "meaning"), rows)


def _reasons() -> Iterator[str]:
    yield "Refused rows stay in their table with a reason. `http_404` and its like: the status of the answer."
    for name, stage in REPORTED_STAGES.items():
        if stage.reasons:
            yield f"\n## {name}\n"
            yield from _table(("reason", "meaning"), [(f"`{word}`", text) for word, text in stage.reasons.items()])


def _metrics() -> Iterator[str]:
    yield "Truth comes before ROUGE. Names are those of the `scores` dataset, and of `--retraining.metric`."
    yield ""
    rows = [
        (f"`{metric.name}`", metric.group, metric.better, metric.judge or "", metric.meaning)
        for metric in METRICS.values()
    ]
    yield from _table(("metric", "group", "better", "needs", "meaning"), rows)


def _summarizers() -> Iterator[str]:
    yield "`--summarizer.preset NAME`; `python -m models NAME` runs one once at full size. Parameters are counted at"
    yield "the vocabulary of the paper; *published* is what paper or released checkpoint have."
    yield ""
    rows = []
    for name, preset in PRESETS.items():
        check_library(preset.architecture)
        count = count_parameters(name)
        rows.append((f"`{name}`", f"{count:,}", describe(preset.parameters, count), preset.paper, preset.note))
    yield from _table(("preset", "parameters", "published", "paper", "what it is"), rows)


def _commands() -> Iterator[str]:
    yield "`wikisum COMMAND --help` shows the same. `wikisum --install-completion` completes all of it in the shell."
    yield "`python -m flows` is the same as `wikisum`, where only the code is at hand and not the command."
    yield from _command(app, ("wikisum",))
    for name in _MODULES:
        path = PROJECT / name.replace(".", "/")
        source = (path.with_suffix(".py") if path.with_suffix(".py").exists() else path / "__main__.py").read_text()
        yield f"\n## python -m {name}\n"
        yield (ast.get_docstring(ast.parse(source)) or "").replace("\n    ", "\n        ")


def _command(command: App, words: tuple[str, ...]) -> Iterator[str]:
    """Describe a command, or the commands below it."""
    if command.default_command is None:
        for name, below in command.resolved_commands().items():
            if not name.startswith("-"):
                yield from _command(below, (*words, name))
        return
    yield f"\n## {' '.join(words)}\n"
    yield command.help
    arguments = [item for item in command.assemble_argument_collection() if item.show]
    if words[1] in BUILDS:
        yield ""
        yield "Its options are all [settings](settings/index.md), and:"
        arguments = [argument for argument in arguments if not argument.keys or argument.keys[0] in OWN]
    rows = [(f"`{argument.name}`", _default(argument), argument.parameter.help or "") for argument in arguments]
    yield ""
    yield from _table(("option", "default", "meaning"), rows)


def _default(argument: Argument) -> str:
    value = argument.field_info.default
    if argument.required or value in (None, False, "", (), argument.field_info.empty):
        return "required" if argument.required else ""
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---"] * len(heads))
    for row in rows:
        yield _row([cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") for cell in row])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def stages_read(folder: Path, **sections: Any) -> dict[str, list[str]]:
    """Plan a build in an empty folder; return stage -> the stages that it reads, in the order of the walk."""
    session = planning_session(BuildConfig.model_validate({"root": str(folder / "root"), **sections}))
    session.once(dag.report)
    run = session.run
    names = {id(result): name for name, result in {**run.stages, **run.directories}.items()}
    return {
        stage: list(dict.fromkeys(names[id(result)] for source in inputs.values() for result in source.results))
        for stage, inputs in run.inputs.items()
    }


def draw() -> str:
    """Return the graph as SVG: a build's stages with every option, dashed those that no preset asks for. An arrow
    that others imply is left out: most of the stages read `articles`, and the report reads nearly all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        usual = stages_read(folder)
        articles, archive = folder / "articles.jsonl", folder / "pages.warc"
        articles.write_text(json.dumps({"title": "A", "lead": "A.", "references": [], "documents": []}) + "\n")
        archive.touch()
        common_crawl = {"indexes": ["https://index.commoncrawl.org/CC-MAIN-2026-43-index"]}
        whole = stages_read(
            folder,
            source={"kind": "records", "records": {"paths": [str(articles)]}},
            crawl={"archive": [str(archive)], "common_crawl": common_crawl, "contact": "you@example.org"},
            across={"near_duplicates": "corpus", "leakage": "pages"},
            summarizer={"preset": "pht-small"},
            decoding={"alignment": "predicted"},
        )
    before: dict[str, set[str]] = {}  # stage -> all that must be done before it
    direct: dict[str, list[str]] = {}
    for stage, reads in whole.items():
        implied = set[str]().union(*(before[read] for read in reads))
        before[stage] = implied.union(reads)
        direct[stage] = [read for read in reads if read not in implied]
    optional = frozenset(whole) - frozenset(usual)
    return draw_stages(direct, optional, "The stages of a build, and which stage reads which")


def main() -> None:
    """Write the pages."""
    (FOLDER / "settings").mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
