"""A cited summary as Markdown, JSON and a self-contained HTML file. Every text may come from a page of the web."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tasks.reporting.blocks import clean, shown_url, web_url
from tasks.reporting.markdown import escape, link
from tasks.summary.cited import CitedSummary, Passage, Sentence, Source

_TEMPLATE = "export.html.j2"
# Said with every summary, because the test is necessary but not sufficient (`tasks/evaluation/support.py`).
MEANING = (
    "Supported means that the passages hold every name, number and date of a sentence, or half of its words if it has "
    "none. Whether they say the same, only reading them shows."
)
MARKS = {"supported": "supported", "partly": "partly supported", "not supported": "not supported"}


def to_markdown(summary: CitedSummary) -> str:
    """Return a Markdown document: sentences with numbers of passages and a mark if unsupported, passages, sources."""
    parts = [f"# {escape(summary.title)}", *(_sentence(sentence) for sentence in summary.sentences)]
    parts += [f"*{escape(note)}*" for note in summary.notes]
    if summary.sentences:
        parts.append(f"*Written by {escape(summary.system)}. {escape(summary.why)} {escape(MEANING)}*")
    if summary.passages:
        parts.append("## Passages")
        parts += [_passage(passage, summary.sources) for passage in summary.passages]
    parts.append("## Sources")
    parts.append("\n".join(_source(source) for source in summary.sources))
    return "\n\n".join(parts) + "\n"


def to_json(summary: CitedSummary) -> str:
    """Return the summary's fields; names are those of `tasks/summary/cited.py`."""
    return json.dumps(asdict(summary), indent=1, ensure_ascii=False) + "\n"


def to_html(summary: CitedSummary) -> str:
    """Return one HTML file with styles, without scripts and remote loads; citations are links within it."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update({"clean": clean, "shown_url": shown_url, "web_url": web_url})
    sources = {source.number: source for source in summary.sources}
    return environment.get_template(_TEMPLATE).render(summary=summary, sources=sources, marks=MARKS, meaning=MEANING)


def to_text(summary: CitedSummary) -> str:
    """Return the summary for a terminal: a sentence a line, then passages and sources."""
    lines = [clean(summary.title), ""]
    for sentence in summary.sentences:
        mark = "" if sentence.verdict == "supported" else f"  <- {_doubt(sentence)}"
        lines.append(f"{clean(sentence.text)} {''.join(f'[{number}]' for number in sentence.passages)}{mark}".rstrip())
    lines += ["", *(clean(note) for note in summary.notes)]
    if summary.sentences:
        lines += [clean(f"Written by {summary.system}. {summary.why}"), MEANING]
    lines.append("")
    for passage in summary.passages:
        lines.append(f"[{passage.number}] source {passage.source}: {' ... '.join(map(clean, passage.quotes))}")
    lines.append("")
    for source in summary.sources:
        refused = f"  <- not used: {clean(source.refused)}" if source.refused else ""
        title = f"  ({clean(source.title)})" if source.title else ""
        lines.append(f"source {source.number}  {clean(source.name)}{title}{refused}")
    return "\n".join(lines) + "\n"


FORMATS: Mapping[str, tuple[str, Callable[[CitedSummary], str]]] = {
    "md": ("text/markdown", to_markdown),
    "json": ("application/json", to_json),
    "html": ("text/html", to_html),
    "txt": ("text/plain", to_text),
}


def _sentence(sentence: Sentence) -> str:
    numbers = "".join(f" \\[{number}\\]" for number in sentence.passages)
    mark = "" if sentence.verdict == "supported" else f" **({escape(_doubt(sentence))})**"
    return f"{escape(sentence.text)}{numbers}{mark}"


def _doubt(sentence: Sentence) -> str:
    missing = f", missing: {', '.join(map(clean, sentence.missing))}" if sentence.missing else ""
    return MARKS[sentence.verdict] + missing


def _passage(passage: Passage, sources: Sequence[Source]) -> str:
    name = sources[passage.source - 1].name if passage.source else "unknown"
    return f"\\[{passage.number}\\] {_name(name)}, paragraph {passage.position + 1}:\n\n> {escape(passage.text)}"


def _source(source: Source) -> str:
    title = f" {escape(source.title)}" if source.title else ""
    refused = f" **{escape(f'not used: {source.refused}')}**" if source.refused else ""
    return f"{source.number}. {_name(source.name)}{title}{refused}"


def _name(name: str) -> str:
    return link(name) if web_url(name) else escape(name)
