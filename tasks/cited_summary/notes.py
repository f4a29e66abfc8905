"""Notes that people keep: lines and list items that state something and end without a full stop."""

import re
from collections.abc import Sequence

import pyarrow as pa

from storage.schemas import DOCUMENTS
from tasks.text.english import has_finite_verb

_ENGINES = ("plain", "markdown")  # of tasks/extraction/engines.py, that read text and not pages
_FEWEST = 4  # words of a line that states something
_MOST = 80  # words of a paragraph of notes
_STATES = re.compile(r"[A-Z0-9\"“(].*[\w)\"”%]", re.DOTALL)
_ASKS = re.compile(r"(?:How|What|When|Where|Which|Who|Why)\b")
_SUBJECT = r"(?:It|He|She|They|We|There|This|(?:The|An?|Its|His|Her|Our|Their|Each|Every)(?: [\w-]+){1,4})"
_PRESENT = re.compile(rf"{_SUBJECT} [a-z]+s\b(?! (?:of|in|at|from|by|and|for)\b)")


def read_notes(documents: pa.Table) -> pa.Table:
    """Return DOCUMENTS rows in which notes are prose: of plain text and Markdown, lines that state something without an
    end get a full stop, and those that follow one another become one paragraph."""
    rows = documents.to_pylist()
    for row in rows:
        if row["engine"] in _ENGINES and (paragraphs := _joined(row["paragraphs"])) != row["paragraphs"]:
            # What repeats on a host is told of its lines as they were, and of pages alone.
            row |= {"paragraphs": paragraphs, "boilerplate": [False] * len(paragraphs)}
    return pa.Table.from_pylist(rows, schema=DOCUMENTS.schema)


def _joined(lines: Sequence[str]) -> list[str]:
    paragraphs = list[str]()
    room = 0  # words that the last paragraph, of notes, may still take
    for line in lines:
        words = len(line.split())
        if not _is_note(line, words):
            paragraphs.append(line)
            room = 0
        elif words <= room:
            paragraphs[-1] += f" {line}."
            room -= words
        else:
            paragraphs.append(f"{line}.")
            room = _MOST - words
    return paragraphs


def _is_note(line: str, words: int) -> bool:
    stated = words >= _FEWEST and _STATES.fullmatch(line) and not _ASKS.match(line)
    return bool(stated) and (has_finite_verb(line) or _PRESENT.match(line) is not None)
