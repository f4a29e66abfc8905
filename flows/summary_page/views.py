"""HTML of the page: templates with every text escaped, and pages of others shown inert."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fastapi import Response
from fastapi.responses import HTMLResponse, PlainTextResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tasks.cited_summary.cited import CitedSummary, Passage
from tasks.cited_summary.sanitize import POLICY, sanitized_page
from tasks.cited_summary.sources import megabytes
from tasks.cited_summary.systems import EXTRACTIVE
from tasks.cited_summary.wording import DIFFERING, MARKS, meaning
from tasks.reporting.blocks import clean, shown_url, web_url

Systems = Callable[[], Mapping[str, str]]  # what people may choose: name -> what it is
FOLDER = Path(__file__).parent / "page"
_BESIDE = 140  # characters around a quote in the margin
_SHOWN_PARAGRAPHS = 300  # of a source, besides those cited
_ENVIRONMENT = Environment(
    loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.globals.update(meaning=meaning, marks=MARKS, differing=DIFFERING)
_ENVIRONMENT.filters.update({"clean": clean, "shown_url": shown_url, "web_url": web_url, "megabytes": megabytes})


def render(template: str, status: int = 200, /, **values: Any) -> HTMLResponse:
    """Return a template as a page."""
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**values), status)


def inert_response(body: bytes, mime: str | None, charset: str | None, passage: str) -> Response:
    """Return a page as it was fetched under a policy that forbids it everything but inline styles."""
    page = sanitized_page(body, mime, charset, passage)
    headers = {"Content-Security-Policy": f"{POLICY}; frame-ancestors 'self'"}
    if page is None:
        said = f"A file of type {mime} is not shown here; its text is in the list of sources."
        return PlainTextResponse(said, headers=headers)
    return HTMLResponse(page, headers=headers)


def _named(title: str, passage: Passage) -> str:
    return title if passage.page is None else f"{title}, page {passage.page}"


def summary_view(summary: CitedSummary, choice: str, systems: Mapping[str, str]) -> dict[str, Any]:
    """Return a summary as its template shows it; `choice`: the system asked for, `systems`: those that there are."""
    cited = {(passage.source, passage.position): passage for passage in summary.passages}
    passages = Counter(passage.source for passage in summary.passages)
    sources = []
    for source in summary.sources:
        paragraphs = [
            {"text": item.shown, "refused": item.refused, "marked": _marked(cited.get((source.number, position)))}
            for position, item in enumerate(source.paragraphs)
            if position < _SHOWN_PARAGRAPHS or (source.number, position) in cited
        ]
        usable = sum(paragraph.refused is None for paragraph in source.paragraphs)
        counts = {"left_out": len(source.paragraphs) - len(paragraphs), "cited": passages[source.number]}
        sources.append({"source": source, "paragraphs": paragraphs, "usable": usable, **counts})
    titles = {source.number: source.title or shown_url(source.name) for source in summary.sources}
    used = {choice, "extractive" if summary.system == EXTRACTIVE else choice}
    return {
        "summary": summary,
        "sources": sources,
        "texts": {passage.number: passage.shown for passage in summary.passages},
        "names": {passage.number: _named(titles.get(passage.source, ""), passage) for passage in summary.passages},
        "others": {name: label for name, label in systems.items() if name not in used},
    }


def _around(text: str, quote: str) -> tuple[str, str]:
    """Return some words before and after a quote in a passage; nothing if it is not found."""
    before, _, after = text.partition(quote)
    if before == text:
        return "", ""
    first, last = before[-_BESIDE:], after[:_BESIDE]
    if first != before:
        first = f"… {first.partition(' ')[2]}"
    if last != after:
        last = f"{last.rpartition(' ')[0]} …"
    return first, last


def _marked(passage: Passage | None) -> dict[str, Any] | None:
    """Return a cited paragraph as its number and its parts, each with whether it is quoted."""
    if passage is None:
        return None
    quoted = re.compile("|".join(map(re.escape, sorted(passage.quotes, key=len, reverse=True))) or "(?!)")
    parts, end = list[tuple[str, bool]](), 0
    for match in quoted.finditer(passage.shown):
        parts += [(passage.shown[end : match.start()], False), (match[0], True)]
        end = match.end()
    return {"number": passage.number, "parts": [*parts, (passage.shown[end:], False)]}


_ENVIRONMENT.globals["around"] = _around
