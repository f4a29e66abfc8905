"""The report's page for readers without a mouse or a screen."""

from lxml import html

from tasks.reporting.blocks import Cell, Lines, ReportSection, Table
from tasks.reporting.page import page

BLOCKS = [
    Table("Counts", ["", "rows"], [[Cell("articles"), Cell("1,200")]], frozenset({1})),
    Lines(["seed: 1", "words: unicode"]),
]


def test_a_column_without_a_name_has_no_header() -> None:
    tree = html.document_fromstring(page("Report", [ReportSection("built", "What was built", BLOCKS)]))
    assert [(cell.tag, cell.text) for cell in tree.xpath("//thead/tr/*")] == [("td", None), ("th", "rows")]
    assert [cell.text for cell in tree.xpath("//tbody//th")] == ["articles"]


def test_lines_that_scroll_are_reached_by_the_keyboard() -> None:
    tree = html.document_fromstring(page("Report", [ReportSection("built", "What was built", BLOCKS)]))
    (lines,) = tree.xpath("//pre")
    assert (lines.get("tabindex"), lines.text) == ("0", "seed: 1\nwords: unicode\n")
