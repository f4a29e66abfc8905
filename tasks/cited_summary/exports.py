"""A cited summary as Markdown, JSON, plain text and a self-contained HTML file, and its sources for programs that
manage references. Every text may come from a page of the web."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape as escape_html
from pathlib import Path
from urllib.parse import urlsplit

from tasks.cited_summary.cited import CitedSummary, Passage, SummarySentence, SummarySource
from tasks.cited_summary.documents import to_docx, to_pdf
from tasks.cited_summary.wording import DIFFERING, MARKS, described, meaning
from tasks.reporting.blocks import clean, web_url
from tasks.reporting.markdown import escape, link
from tasks.reporting.page import templates

_TEMPLATE = "export.html.j2"
# What BibTeX does not take as it is.
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_{}"})
_ESCAPED |= str.maketrans({"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"})


def to_markdown(summary: CitedSummary) -> str:
    """Return a Markdown document: sentences and what was tested, sources, and the passages as footnotes. Footnotes are
    those of GitHub and Pandoc; a reader that does not know them shows them as text."""
    parts = [f"# {escape(summary.title)}", *map(_sentence, summary.told)]
    if summary.differing:
        parts += [f"## {DIFFERING}", *(_side_by_side(item, summary) for item in summary.differing)]
    parts += [f"*{escape(note)}*" for note in summary.notes]
    if summary.sentences:
        about = escape(f"Written by {summary.system}. {summary.why} {meaning([summary.system])}")
        parts.append(f"*{about}*")
    parts.append("## Sources")
    parts.append("\n".join(_source(source) for source in summary.sources))
    parts += [_passage(passage, summary.sources) for passage in summary.passages]
    return "\n\n".join(parts) + "\n"


def to_json(summary: CitedSummary) -> str:
    """Return the summary's fields; names are those of `tasks/cited_summary/cited.py`."""
    fields = asdict(summary)
    for sentence in fields["sentences"]:
        del sentence["pinned"]  # it matters only to who writes the summary again
    return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"


def to_html(summary: CitedSummary) -> str:
    """Return one HTML file with styles, without scripts and remote loads; citations are links within it."""
    template = templates(Path(__file__).parent).get_template(_TEMPLATE)
    sources = {source.number: source for source in summary.sources}
    shown = {"marks": MARKS, "differing": DIFFERING, "meaning": meaning([summary.system])}
    return template.render(summary=summary, sources=sources, **shown)


@dataclass(frozen=True)
class ShownSummary(CitedSummary):
    """A summary that a notebook shows, with citations that open."""

    def _repr_html_(self) -> str:
        """Return its page in a frame, so that its styles stay there; links to the web leave the frame."""
        page = to_html(self).replace('<a href="http', '<a target="_blank" href="http')
        allowed = "allow-popups allow-popups-to-escape-sandbox"
        return (
            f'<iframe title="{escape_html(clean(self.title))}" sandbox="{allowed}" width="100%" height="480" '
            f'style="border:0" srcdoc="{escape_html(page)}"></iframe>'
        )


def to_text(summary: CitedSummary) -> str:
    """Return the summary for a terminal: a sentence a line, then passages and sources."""
    lines = [clean(summary.title), ""]
    for sentence in summary.told:
        lines += ["", clean(sentence.heading)] if sentence.heading else []
        numbers = "".join(f"[{number}]" for number in sentence.passages)
        arrow = " " if sentence.verdict == "said" else "<-"  # a doubtful sentence is marked visibly
        lines.append(f"{clean(sentence.text)} {numbers}  {arrow} {_mark(sentence)}")
    lines += ["", *_differences(summary), *(clean(note) for note in summary.notes)]
    if summary.sentences:
        lines += [clean(f"Written by {summary.system}. {summary.why}"), meaning([summary.system])]
    lines.append("")
    for passage in summary.passages:
        lines.append(f"[{passage.number}] source {passage.source}: {' ... '.join(map(clean, passage.quotes))}")
    lines.append("")
    for source in summary.sources:
        refused = f"  <- not used: {clean(source.refused)}" if source.refused else ""
        known = ", ".join(filter(None, (source.title, source.origin)))
        title = f"  ({clean(known)})" if known else ""
        lines.append(f"source {source.number}  {clean(source.name)}{title}{refused}")
    return "\n".join(lines) + "\n"


def to_cited_text(summary: CitedSummary) -> str:
    """Return the summary to be pasted elsewhere: sentences with the numbers of their passages, then the source of
    each."""
    sections = list[list[str]]([[]])
    for sentence in summary.told:
        if sentence.heading:
            sections.append([])
            sections[-1].append(f"{clean(sentence.heading)}\n")
        doubt = "" if sentence.supported else f" ({MARKS[sentence.verdict]})"
        numbers = "".join(f"[{number}]" for number in sentence.passages)
        sections[-1].append(f"{clean(sentence.text)} {numbers}{doubt}".rstrip())
    lines = [clean(summary.title), *(" ".join(section).replace("\n ", "\n") for section in sections if section)]
    lines += _differences(summary)
    names = {source.number: source for source in summary.sources}
    cited = [f"[{passage.number}] {described(names[passage.source])}, {passage.place}" for passage in summary.passages]
    return "\n\n".join([*lines, "\n".join(cited)]) + "\n"


def to_bibtex(summary: CitedSummary) -> str:
    """Return an entry for each source that was used, for BibTeX and BibLaTeX: author, site and date if known, title,
    address and the date of reading."""
    entries = []
    for source in _used(summary):
        fields = {"title": f"{{{clean(source.title or source.name).translate(_ESCAPED)}}}"}
        fields |= {"author": " and ".join(f"{{{name.translate(_ESCAPED)}}}" for name in _authors(source))}
        fields |= {"date": source.date or "", "year": (source.date or "")[:4]}
        fields |= {"organization": f"{{{clean(source.site).translate(_ESCAPED)}}}" if source.site else ""}
        if url := web_url(source.name):
            fields |= {"howpublished": f"\\url{{{_address(url)}}}", "url": _address(url), "urldate": summary.made[:10]}
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        entries.append("\n".join([f"@misc{{{_key(source)},", *lines, "}"]))
    return "\n\n".join(entries) + "\n"


# Bytes are a file, not text for a terminal.
FORMATS: Mapping[str, tuple[str, Callable[[CitedSummary], str | bytes]]] = {
    "md": ("text/markdown", to_markdown),
    "json": ("application/json", to_json),
    "html": ("text/html", to_html),
    "docx": ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", to_docx),
    "pdf": ("application/pdf", to_pdf),
    "txt": ("text/plain", to_text),
    "cited.txt": ("text/plain", to_cited_text),
    "bib": ("application/x-bibtex", to_bibtex),
}
FILES = frozenset({"docx", "pdf"})


def _sentence(sentence: SummarySentence) -> str:
    numbers = "".join(f"[^{number}]" for number in sentence.passages)
    doubt = "" if sentence.verdict == "said" else f" **({escape(_mark(sentence))})**"
    heading = f"## {escape(sentence.heading)}\n\n" if sentence.heading else ""
    return f"{heading}{escape(sentence.text)}{numbers}{doubt}"


def _side_by_side(difference: SummarySentence, summary: CitedSummary) -> str:
    """Return a table with a column for each side, under its source."""
    rows = [
        [escape(summary.named(number)) for _, number in difference.stated],
        ["---" for _ in difference.sides],
        [f"{escape(side)}[^{number}]" for side, number in difference.stated],
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _differences(summary: CitedSummary) -> list[str]:
    """Return a line for each difference, with a number behind each side."""
    lines = []
    for item in summary.differing:
        sides = "; ".join(f"{clean(side)} [{number}]" for side, number in item.stated)
        lines.append(f"{clean(item.text.partition(':')[0])}: {sides}")
    return lines


def _mark(sentence: SummarySentence) -> str:
    return f"{MARKS[sentence.verdict]}: {clean(sentence.tested)}"


def _passage(passage: Passage, sources: Sequence[SummarySource]) -> str:
    name = sources[passage.source - 1].name if passage.source else "unknown"
    return f"[^{passage.number}]: {_name(name)}, {passage.place}: {escape(passage.shown)}"


def _source(source: SummarySource) -> str:
    known = ", ".join(filter(None, (source.title, source.origin)))
    title = f" {escape(known)}" if known else ""
    refused = f" **{escape(f'not used: {source.refused}')}**" if source.refused else ""
    return f"{source.number}. {_name(source.name)}{title}{refused}"


def _name(name: str) -> str:
    return link(name) if web_url(name) else escape(name)


def _authors(source: SummarySource) -> list[str]:
    return [name for part in (source.author or "").split(";") if (name := clean(part).strip())]


def _used(summary: CitedSummary) -> list[SummarySource]:
    return [source for source in summary.sources if source.refused is None]


def _key(source: SummarySource) -> str:
    host = urlsplit(web_url(source.name) or "").hostname or source.name
    return f"{re.sub('[^a-z0-9]', '', host.removeprefix('www.').lower())[:30]}{source.number}"


def _address(url: str) -> str:
    r"""Return a URL in the form that is valid between braces: `\url` takes every other character as it is."""
    return re.sub(r"[{}\\%#]", lambda mark: f"%{ord(mark[0]):02X}" if mark[0] not in "%#" else f"\\{mark[0]}", url)
