"""The list of sources as read: every one that was given, with its text, or a sentence on why nothing of it was used."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tasks.cited_summary.cited import Paragraph, SummarySource
from tasks.cited_summary.sources import GivenSource
from tasks.reporting.stages import meaning


def list_sources(
    given: Sequence[GivenSource], frontier: pa.Table, documents: pa.Table, paragraphs: pa.Table, language: str | None
) -> list[SummarySource]:
    """Return every source in the order given.

    Args:
        given: the sources.
        frontier: FRONTIER rows, whose rank is the index of the source.
        documents: DOCUMENTS rows of the URLs that were fetched.
        paragraphs: PARAGRAPHS rows, kept and refused.
        language: the language of the summary, if others are refused."""
    found = {row["rank"]: row for row in frontier.to_pylist()}
    read = {row["url"]: row for row in documents.select(["url", "title", "reason"]).to_pylist()}
    texts: dict[str, list[Paragraph]] = {}
    for row in paragraphs.select(["url", "text", "drop_reason"]).to_pylist():
        texts.setdefault(row["url"], []).append(Paragraph(row["text"], row["drop_reason"]))
    return [_source(index, source, found.get(index), read, texts, language) for index, source in enumerate(given)]


def _source(
    index: int,
    given: GivenSource,
    found: Mapping[str, Any] | None,
    read: Mapping[str, Mapping[str, Any]],
    texts: Mapping[str, list[Paragraph]],
    language: str | None,
) -> SummarySource:
    number = index + 1
    if found is None:
        return SummarySource(number, given.name, refused=given.reason)
    if found["drop_reason"] is not None:
        return SummarySource(number, given.name, refused=meaning("frontier", found["drop_reason"]))
    document = read[found["url"]]
    paragraphs = tuple(texts.get(found["url"], ()))
    if document["reason"] is not None:
        refused: str | None = meaning("documents", document["reason"])
    else:
        refused = _nothing_kept(paragraphs, language)
    fetched = document["reason"] is None or bool(given.body)
    return SummarySource(number, given.name, document["title"], refused, paragraphs, fetched)


def _nothing_kept(paragraphs: Sequence[Paragraph], language: str | None) -> str | None:
    """Return why no paragraph is used, by the reason that refuses most of the text; None if one is used. Text counts,
    not paragraphs: a heading is as much a paragraph as what stands below it."""
    refused: Counter[str] = Counter()
    for paragraph in paragraphs:
        if paragraph.refused is None:
            return None
        refused[paragraph.refused] += len(paragraph.text)
    if "duplicate" in refused:  # what is no prose, such as headings, may be most of a page that is a copy
        return "it says nothing that an earlier source does not say: every usable paragraph is a repetition"
    reason = refused.most_common(1)[0][0]
    if reason == "language":
        return f"its text is not in the language of the summary, {language!r}"
    count, total = sum(paragraph.refused == reason for paragraph in paragraphs), len(paragraphs)
    share = "its only paragraph" if total == 1 else f"{count} of its {total} paragraphs"
    return f"none of its text is prose that can be used; {share}: {meaning('paragraphs', reason)}"
