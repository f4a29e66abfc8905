"""The sources of a summary for programs that manage references: BibTeX and CSL-JSON. Only what is known of a source is
said: its title, its address and when it was read."""

import json
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from tasks.cited_summary.cited import CitedSummary, SummarySource
from tasks.reporting.blocks import clean, web_url

_ESCAPED: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{mark: f"\\{mark}" for mark in "&%$#_"},
}


def to_bibtex(summary: CitedSummary) -> str:
    """Return an entry for each source that was used, as BibTeX and BibLaTeX read it."""
    entries = []
    for source in _used(summary):
        fields = {"title": f"{{{_bibtex(source.title or source.name)}}}"}
        if url := web_url(source.name):
            fields |= {"howpublished": f"\\url{{{_address(url)}}}", "url": _address(url), "urldate": summary.made[:10]}
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        entries.append("\n".join([f"@misc{{{_key(source)},", *lines, "}"]))
    return "\n\n".join(entries) + "\n"


def to_csl(summary: CitedSummary) -> str:
    """Return the sources that were used as CSL-JSON, as Zotero and Pandoc read it."""
    items = []
    for source in _used(summary):
        item: dict[str, object] = {"id": _key(source), "type": "document", "title": clean(source.title or source.name)}
        if url := web_url(source.name):
            item |= {"type": "webpage", "URL": url, "container-title": urlsplit(url).hostname or ""}
            if summary.made:
                item["accessed"] = {"date-parts": [[int(part) for part in summary.made[:10].split("-")]]}
        items.append(item)
    return json.dumps(items, indent=1, ensure_ascii=False) + "\n"


def _used(summary: CitedSummary) -> list[SummarySource]:
    return [source for source in summary.sources if source.refused is None]


def _key(source: SummarySource) -> str:
    host = urlsplit(web_url(source.name) or "").hostname or source.name
    return f"{re.sub('[^a-z0-9]', '', host.removeprefix('www.').lower())[:30]}{source.number}"


def _bibtex(text: str) -> str:
    return "".join(_ESCAPED.get(letter, letter) for letter in clean(text))


def _address(url: str) -> str:
    r"""Return a URL as it may stand between braces: `\url` takes every other character as it is."""
    return re.sub(r"[{}\\%#]", lambda mark: f"%{ord(mark[0]):02X}" if mark[0] not in "%#" else f"\\{mark[0]}", url)
