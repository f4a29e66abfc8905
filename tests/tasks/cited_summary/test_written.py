"""A summary of one's own pages by a language model: notes, headings in every format, and what happens without one."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from lxml import html

from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.exports import to_html, to_markdown, to_text
from tests.tasks.chat.chat_server import Reply, chat_server, said, sentences
from tests.tasks.cited_summary.topic import HISTORY, files, summarized
from tests.tasks.writing.scripted import in_turn

BUILT = "The lighthouse at Skerry Point was built in 1847 by Thomas Ridley."
OIL = "The lamp of Skerry Point burned whale oil until 1871."
OUTLINE = said(
    json.dumps(
        {"sections": [{"heading": "The <b>tower</b>", "passages": [1]}, {"heading": "Its lamp", "passages": [2]}]}
    )
)


def written(answers: Sequence[str], **settings: Any) -> CitedSummary:
    with chat_server(in_turn(answers)) as chat:
        writer = {"url": chat.url, "model": "m", "context": 20_000}
        return summarized(files(history_txt=HISTORY), writer=writer, **settings)[0]


def test_sentences_are_cited_and_those_left_out_are_counted() -> None:
    summary = written([sentences((BUILT, [1]), ("It fell down in 1999.", [2]))])
    assert [(one.text, one.verdict) for one in summary.sentences] == [(BUILT, "said")]
    assert summary.system == "m"
    assert "A hosted model may change under the same name." in summary.why
    assert summary.notes == ["1 sentence left out, because no passage says so."]


def test_a_long_summary_has_headings_in_every_format() -> None:
    summary = written([OUTLINE, sentences((BUILT, [1])), sentences((OIL, [2]))], words=600)
    assert [one.heading for one in summary.sentences] == ["The tower", "Its lamp"]
    assert "\n## The tower\n\nThe lighthouse" in to_markdown(summary)
    assert "\nIts lamp\nThe lamp" in to_text(summary)
    page = html.fromstring(to_html(summary))
    assert [one.text for one in page.xpath("//h2[@id]")] == ["The tower", "Its lamp"]
    assert page.xpath("//ol[1]/li/a/@href") == ["#section-1", "#section-2"]
    assert page.xpath("//a[@href='#passage-1']") and page.get_element_by_id("passage-1") is not None


@pytest.mark.parametrize("answer", [Reply(413, "{}"), Reply(200, said("No."))])
def test_without_a_summary_sentences_are_chosen_and_the_reason_is_said(answer: Reply) -> None:
    with chat_server(lambda number, _: answer) as chat:
        summary = summarized(files(history_txt=HISTORY), writer={"url": chat.url, "model": "m"})[0]
    assert summary.system == "concepts"
    assert summary.notes[0].startswith("m gave no summary (")


def test_the_extractive_system_asks_nobody() -> None:
    with chat_server(lambda number, _: (200, "")) as chat:
        writer = {"url": chat.url, "model": "m"}
        summary = summarized(files(history_txt=HISTORY), choice="extractive", writer=writer)[0]
    assert (summary.system, chat.asked) == ("concepts", [])
