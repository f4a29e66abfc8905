"""Leads as plain prose: what encyclopedia pages leave between the sentences when they are copied as text."""

import re

# A whole line: an edit link of a heading, a row of a table (timelines and infoboxes), or its ruling.
_NOT_PROSE = re.compile(r"\s*(?:\[edit\]|\|.*|[^|\n]*\|[^|\n]*\|.*|[-=_*|:\s]{3,})\s*")
# Inside a line: footnote marks and editors' notes.
_MARKS = re.compile(
    r"\[(?:\d{1,3}|[a-z]|note \d+|edit|citation needed|clarification needed|when\?|who\?|by whom\?|which\?)\]",
    re.IGNORECASE,
)


def clean_lead(text: str) -> str:
    """Return a lead without edit links, table rows and footnote marks; its other line breaks stay."""
    lines = (" ".join(_MARKS.sub("", line).split()) for line in text.splitlines() if not _NOT_PROSE.fullmatch(line))
    return "\n".join(line for line in lines if line)
