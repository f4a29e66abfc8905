"""Small models are asked about one passage at a time: what is sent, which sentences stay, and in which order."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.chat.completions import NoAnswerError
from tasks.writing.checking import Written
from tasks.writing.messages import one_messages
from tasks.writing.one_by_one import NO_SENTENCE, in_order, most_passages, without_repeats
from tasks.writing.reading import Draft, read_whole_sentences
from tasks.writing.settings import WriterSettings
from tests.tasks.chat.chat_server import said
from tests.tasks.writing.scripted import BUILT, IS, LAMP, PASSAGES, TITLE, in_turn, writing


def written(*answers: str, passages: Sequence[str] = PASSAGES, **more: Any) -> tuple[Written, list[dict[str, Any]]]:
    with writing(in_turn([said(text) for text in answers]), **{"one_by_one": True, **more}) as (writer, chat):
        made = writer.write(TITLE, passages)
    return made, [body for _, _, body in chat.asked]


def test_each_passage_is_asked_about_alone_and_is_the_citation() -> None:
    made, asked = written(IS, LAMP, "It fell down in 1999.", "The tower is 31 metres high.")
    assert made.sections == [("", [Draft(IS, (0,)), Draft(LAMP, (1,)), Draft("The tower is 31 metres high.", (3,))])]
    assert (made.read, made.left_out, len(asked)) == (4, 1, 4)
    for body, passage in zip(asked, PASSAGES, strict=True):
        assert body["messages"] == one_messages(TITLE, passage, "en")
        assert "response_format" not in body
        assert body["max_tokens"] == 120


@pytest.mark.parametrize(
    "answer",
    [
        "The tower is 31 metres high and stands on",  # unfinished
        "*** ### 191 ####",
        "Skerry Point Lighthouse is a historic landmark in the parish of Lund.",  # it adds words to the passage
        "Ann Molloy left Skerry Point Lighthouse.",  # another passage says it, and not the first
        "Here is a sentence about Skerry Point Lighthouse:",
        "No.",
    ],
)
def test_what_the_passage_does_not_say_never_reaches_a_reader(answer: str) -> None:
    with pytest.raises(NoAnswerError, match=NO_SENTENCE):
        written(answer, passages=PASSAGES[:1])
    made, _ = written(answer, LAMP, passages=PASSAGES[:2])
    assert made.sections == [("", [Draft(LAMP, (1,))])]


def test_quotes_markers_and_markup_around_a_sentence_go() -> None:
    made, _ = written(f'<|im_start|>"{IS}"<|im_end|>', f"**{LAMP}**", passages=PASSAGES[:2])
    assert made.sections == [("", [Draft(IS, (0,)), Draft(LAMP, (1,))])]


def test_a_sentence_that_repeats_another_is_dropped() -> None:
    whole = "Skerry Point Lighthouse was built in 1847 by Thomas Ridley."
    made, _ = written(f"{BUILT} {whole} {whole}", passages=[PASSAGES[0]])
    assert made.sections == [("", [Draft(whole, (0,))])]


def test_the_definition_comes_first_and_the_rest_by_rank() -> None:
    made, _ = written(LAMP, IS, passages=[PASSAGES[1], PASSAGES[0]])
    assert made.sections == [("", [Draft(IS, (1,)), Draft(LAMP, (0,))])]


def test_no_more_passages_are_asked_about_once_the_words_are_there() -> None:
    _, asked = written(IS, LAMP, words=20)
    assert len(asked) == 2  # 11 words, and 10 more
    assert most_passages(20, 100) == 3
    assert most_passages(150, 4) == 4


def test_literal_order_and_repeats() -> None:
    drafts = [
        Draft("It opened in 1901.", (0,)),
        Draft("The mill opened in 1901.", (1,)),
        Draft("It opened in 1901!", (2,)),
    ]
    assert without_repeats(drafts) == [drafts[1]]
    assert in_order("Kelda Mill", [drafts[0], Draft("Kelda Mill is a mill.")]) == [
        Draft("Kelda Mill is a mill."),
        drafts[0],
    ]


@given(st.lists(st.lists(st.sampled_from(["mill", "river", "tower", "1901"]), min_size=1, max_size=4), max_size=6))
def test_no_words_are_lost_with_the_repeats(every: list[list[str]]) -> None:
    drafts = [Draft(" ".join(words)) for words in every]
    kept = without_repeats(drafts)
    assert without_repeats(kept) == kept
    assert {word for one in kept for word in one.text.split()} == {word for words in every for word in words}


def test_only_whole_sentences_are_read() -> None:
    assert read_whole_sentences("Sure:\n- It is red.\nit is low.\nIt is high. It is hi", cut=True) == [
        "It is red.",
        "It is high.",
    ]


@pytest.mark.parametrize(
    ("name", "small"),
    [
        ("qwen3:0.6b", True),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", True),
        ("SmolLM2-135M-Instruct.Q4_1", True),
        ("Qwen/Qwen2.5-1.5B-Instruct", True),
        ("qwen3:8b", False),
        ("Qwen3-30B-A3B", False),
        ("gpt-5-mini", False),
        ("/models/1b/large", False),
    ],
)
def test_the_mode_is_chosen_by_the_size_in_the_name(name: str, small: bool) -> None:
    def asks(parameters: int | None = None, **more: Any) -> bool:
        return WriterSettings(url="http://h/v1", model=name, **more).asks_one_by_one(parameters)

    assert asks() is small
    assert asks(one_by_one=not small) is not small
    assert asks(135_000_000) is True and asks(8_000_000_000) is False


def test_settings_name_a_server_or_a_folder() -> None:
    assert WriterSettings.model_validate("local").model == "SmolLM2-135M-Instruct.Q4_1"
    assert WriterSettings(folder="models/tiny").model == "tiny"
    for wrong in ({}, {"url": "http://h/v1"}, {"model": "m"}, {"folder": "a", "url": "http://h/v1"}):
        with pytest.raises(ValidationError, match="expected"):
            WriterSettings.model_validate(wrong)


def test_a_sentence_of_another_passage_is_left_out() -> None:
    with pytest.raises(NoAnswerError, match=NO_SENTENCE):
        written(LAMP, "No.", passages=PASSAGES[:2])
