"""A table of sources and questions: what each source of a summary says to each question, quoted."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.cited_summary.cited import CitedSummary, SummarySource, place_of
from tasks.extractive.answers import answers
from tasks.extractive.pile import PilePassage

MOST_QUESTIONS = 10
_MOST_CHARACTERS = 300  # of a question
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # first characters that make a spreadsheet run a cell


@dataclass(frozen=True)
class QuotedAnswer:
    """The sentence of a source that answers a question."""

    text: str
    place: str  # of its paragraph in the source, for people


@dataclass(frozen=True)
class SourceRow:
    """A source and its answers."""

    source: SummarySource
    cells: Sequence[QuotedAnswer | None]  # one a question; None if no sentence answers it


def asked_questions(questions: Sequence[str]) -> list[str]:
    """Return the questions that are not empty, each once: at most `MOST_QUESTIONS`."""
    asked = [question.strip()[:_MOST_CHARACTERS] for question in questions]
    return list(dict.fromkeys(filter(None, asked)))[:MOST_QUESTIONS]


def source_table(summary: CitedSummary, questions: Sequence[str]) -> list[SourceRow]:
    """Return a row for each source that could be used."""
    about = summary.about or summary.title
    return [
        SourceRow(source, [_cell(source, question, about) for question in questions])
        for source in summary.sources
        if source.refused is None
    ]


def _cell(source: SummarySource, question: str, about: str) -> QuotedAnswer | None:
    used = [position for position, one in enumerate(source.paragraphs) if one.refused is None]
    passages = [PilePassage(source.paragraphs[position].text) for position in used]
    best = answers(question, passages, about, most=1)
    return QuotedAnswer(best[0].text, place_of(used[best[0].passage], None)) if best else None


def to_csv(questions: Sequence[str], rows: Sequence[SourceRow]) -> str:
    """Return the table as CSV, with a byte order mark, by which spreadsheets know the encoding."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(map(_inert, ["source", *questions]))
    for row in rows:
        cells = ("" if cell is None else cell.text for cell in row.cells)
        writer.writerow(map(_inert, [row.source.name, *cells]))
    return f"\ufeff{file.getvalue()}"


def _inert(text: str) -> str:
    """Return a text that a spreadsheet only shows."""
    return f"'{text}" if text.startswith(_FORMULA) else text
