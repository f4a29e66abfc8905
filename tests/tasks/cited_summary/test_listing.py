"""Why a source is not used, told from its refused paragraphs."""

import pyarrow as pa
import pytest

from storage.schemas import DOCUMENTS, FRONTIER, PARAGRAPHS
from tasks.cited_summary.reading import list_sources
from tasks.cited_summary.sources import GivenSource

HEADING = ("Skerry Point", "too_short")
REFERENCE = ("Webb, K. L. (1987). Towers of the skerries. Journal of Lamps, 14(2), 211-229.", "junk")
MENU = ("Home | News | Contact | Shop | About the lighthouse | Tickets", "navigation")
READS_LIKE = "it reads like a reference, a caption, a teaser or a comment rather than like prose on the subject"


@pytest.mark.parametrize(
    ("paragraphs", "why"),
    [
        ([HEADING, REFERENCE], f"1 of its 2 paragraphs: {READS_LIKE}"),  # one each: the heading is not why
        ([HEADING, HEADING, REFERENCE], f"1 of its 3 paragraphs: {READS_LIKE}"),
        ([HEADING, MENU], "1 of its 2 paragraphs: a menu or a list of links"),
        ([("The light of Skerry", "too_short")], "its only paragraph: fewer than six words"),
        ([HEADING, HEADING], "2 of its 2 paragraphs: fewer than six words"),
    ],
)
def test_a_source_is_refused_for_what_refuses_most_of_its_text(paragraphs: list[tuple[str, str]], why: str) -> None:
    rows = [
        {"article_id": "a", "url": "u", "position": position, "text": text, "drop_reason": reason}
        for position, (text, reason) in enumerate(paragraphs)
    ]
    (source,) = list_sources(
        [GivenSource("u")],
        pa.Table.from_pylist([{"rank": 0, "url": "u"}], schema=FRONTIER.schema),
        pa.Table.from_pylist([{"url": "u"}], schema=DOCUMENTS.schema),
        pa.Table.from_pylist(rows, schema=PARAGRAPHS.schema),
        "en",
    )
    assert source.refused == f"none of its text is prose that can be used; {why}"
