"""The report's page for readers without a mouse or a screen."""

from lxml import html

from tasks.reporting.blocks import Lines, ReportSection
from tasks.reporting.page import page

BLOCKS = [Lines(["seed: 1", "words: unicode"])]


def test_lines_that_scroll_are_reached_by_the_keyboard() -> None:
    tree = html.document_fromstring(page("Report", [ReportSection("built", "What was built", BLOCKS)]))
    (lines,) = tree.xpath("//pre")
    assert (lines.get("tabindex"), lines.text) == ("0", "seed: 1\nwords: unicode\n")
