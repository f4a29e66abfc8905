"""Summaries that a reader changes: every sentence is checked again."""

from dataclasses import replace

import pytest

from tasks.cited_summary.cited import EMPTY, CitedSummary, Paragraph, SummarySentence, SummarySource
from tasks.cited_summary.editing import EDITED, edited, with_pinned
from tasks.cited_summary.exports import to_json
from tests.tasks.cited_summary.topic import HISTORY, TITLE, TODAY, files, summarized

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def summary() -> CitedSummary:
    differing = files(a_txt=f"{TITLE} opened in 1901.", b_txt=f"{TITLE} opened in 1905.")
    return summarized(files(history_txt=HISTORY, today_html=TODAY) + differing)[0]


def marks(summary: CitedSummary) -> dict[str, str]:
    return {one.text: one.verdict for one in summary.told}


def test_what_stays_keeps_its_mark_and_what_is_new_gets_its_own(summary: CitedSummary) -> None:
    first, second, *_ = [one.text for one in summary.told]
    true, false = "The tower is 31 metres high.", "The tower is 45 metres high."
    changed = edited(summary, [second, f"  {true}\n", false, "", first])
    assert marks(changed) == {second: "said", true: "said", false: "not supported", first: "said"}
    assert [one.text for one in changed.told] == [second, true, false, first]
    assert EDITED in changed.notes
    assert "4 of 5 sentences supported by the sources; the others are marked." in changed.notes


def test_citations_lead_to_the_passages_that_say_it(summary: CitedSummary) -> None:
    changed = edited(summary, [one.text for one in reversed(summary.told)])
    texts = {passage.number: passage.text for passage in changed.passages}
    assert sorted(texts) == list(range(1, len(texts) + 1))
    for one in changed.sentences:
        assert one.passages
        for number, quote in zip(one.passages, one.quotes, strict=True):
            assert quote in texts[number]


def test_what_sources_say_differently_stays(summary: CitedSummary) -> None:
    changed = edited(summary, [summary.told[0].text])
    assert [one.text for one in changed.differing] == [one.text for one in summary.differing]
    assert len(changed.differing) == 1
    places = {passage.number: passage.source for passage in changed.passages}
    assert [places[number] for number in changed.differing[0].passages] == [3, 4]


def test_pinned_sentences_begin_what_is_written_again_and_leave_no_trace_in_exports(summary: CitedSummary) -> None:
    first, second, *others = [one.text for one in summary.told]
    lie = "The tower is 45 metres high."
    pinned = [one.text for one in edited(summary, [first, f" {second}", lie], [second, lie]).told if one.pinned]
    assert pinned == [second, lie]
    again = with_pinned(summary, pinned, 150)
    assert [one.text for one in again.told] == [second, lie, first, *others]
    assert [one.pinned for one in again.told] == [True, True, False, *(False for _ in others)]
    assert (marks(again)[second], marks(again)[lie]) == ("said", "not supported")
    assert [one.text for one in again.differing] == [one.text for one in summary.differing]
    short = with_pinned(summary, pinned, sum(len(text.split()) for text in pinned) + len(first.split()))
    assert [one.text for one in short.told] == [second, lie, first]
    assert with_pinned(summary, [], 20) is summary
    assert "pinned" not in to_json(again)


def test_pinned_sentences_stay_where_no_source_can_be_used_any_more(summary: CitedSummary) -> None:
    nothing, _ = summarized(files(menu_txt="Home\nNews\nContact\n"))
    assert (nothing.sentences, EMPTY in nothing.notes) == ([], True)
    sentence = summary.told[0].text
    (kept,) = with_pinned(nothing, [sentence], 150).sentences
    assert (kept.text, kept.verdict, kept.pinned) == (sentence, "not supported", True)
    assert EMPTY not in with_pinned(nothing, [sentence], 150).notes


def test_changing_twice_is_said_once(summary: CitedSummary) -> None:
    lie = "The tower is 45 metres high."
    twice = edited(edited(summary, [lie]), [summary.told[0].text])
    assert twice.notes.count(EDITED) == 1
    assert not any("the others are marked" in note for note in twice.notes)


def test_no_sentence_is_refused(summary: CitedSummary) -> None:
    with pytest.raises(ValueError, match="expected at least one, or delete the summary"):
        edited(summary, ["", "  \n "])


def test_a_heading_stays_with_its_sentence(summary: CitedSummary) -> None:
    first, second, *_ = summary.told
    with_heading = replace(summary, sentences=[first, replace(second, heading="Today")])
    changed = edited(with_heading, [second.text, first.text])
    assert [(one.text, one.heading) for one in changed.told] == [(second.text, "Today"), (first.text, "")]


def test_text_of_a_language_model_is_checked_as_such_again(summary: CitedSummary) -> None:
    passage = (
        "Recent results have demonstrated the need for deeper text understanding methods. Moreover, the trace of the "
        "proofs provide answer justifications. The results show that the prover boosts the performance of the system."
    )
    made = "Additionally, the trace of the answers provides answer justifications, demonstrating the effectiveness."
    source = SummarySource(1, "a.txt", None, None, (Paragraph(passage),))
    of_people = CitedSummary("Provers", "concepts", "", [SummarySentence(made, "said")], [], [source])
    assert marks(edited(of_people, [made])) == {made: "said"}
    assert marks(edited(replace(of_people, by_model=True), [made])) == {made: "not supported"}
