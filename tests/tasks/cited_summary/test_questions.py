"""Questions about sources: answered by their sentences or by a language model, cited and checked as summaries are."""

import pytest

from tests.tasks.chat.chat_server import chat_server, sentences
from tests.tasks.cited_summary.topic import HISTORY, TITLE, TODAY, files, summarized

pytestmark = pytest.mark.integration


def test_a_sentence_of_the_sources_answers() -> None:
    summary, _ = summarized(files(history_txt=HISTORY, today_html=TODAY), question="Who was the last keeper?")
    (answer,) = summary.sentences
    assert "Ann Molloy" in answer.text
    assert answer.verdict == "said"
    assert summary.passages[0].source == 2
    assert (summary.title, summary.about) == ("Who was the last keeper?", TITLE)


def test_no_answer_is_said_and_no_sentence_shown() -> None:
    summary, _ = summarized(files(history_txt=HISTORY), question="Which bank lent the money?")
    assert summary.sentences == []
    assert summary.notes == ["No sentence of the sources answers this question."]


def test_sources_that_answer_differently_are_put_side_by_side() -> None:
    given = files(one_txt=f"{TITLE} was built in 1847.", two_txt=f"{TITLE} was built in 1849.", three_txt=HISTORY)
    summary, _ = summarized(given, question="When was the lighthouse built?")
    assert [side for one in summary.differing for side, *_ in one.stated] == [
        f"{TITLE} was built in 1847.",
        f"{TITLE} was built in 1849.",
    ]
    assert not any("1849" in one.text for one in summary.told)
    unrelated, _ = summarized(given, question="What did the lamp burn?")
    assert unrelated.differing == []
    assert "whale oil" in unrelated.sentences[0].text


def test_a_language_model_is_asked_the_question() -> None:
    said = sentences(("The lighthouse at Skerry Point was built in 1847 by Thomas Ridley.", [1]))
    with chat_server(lambda *_: (200, said)) as chat:
        writer = {"url": chat.url, "model": "tiny-chat"}
        summary, _ = summarized(files(history_txt=HISTORY), question="Who built it?", writer=writer)
    assert [one.verdict for one in summary.sentences] == ["said"]
    assert "Who built it?" in str(chat.asked[-1])
