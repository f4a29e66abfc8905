"""Write, check, mend: what is sent back, what takes its place, what is left out."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tasks.chat.completions import NoAnswerError
from tasks.evaluation.citations import Citer
from tasks.writing.checking import Written
from tasks.writing.reading import Draft
from tasks.writing.settings import WriterSettings
from tests.tasks.chat.chat_server import Reply, said, sentences
from tests.tasks.writing.scripted import BUILT, IS, LAMP, PASSAGES, TITLE, TOWER, in_turn, writing


def written(*texts: str, passages: Sequence[str] = PASSAGES, **more: Any) -> tuple[Written, list[dict[str, Any]]]:
    with writing(in_turn(texts), **more) as (writer, chat):
        made = writer.write(TITLE, passages)
    return made, [body for _, _, body in chat.asked]


def shown(made: Written) -> list[Draft]:
    return [one for _, drafts in made.sections for one in drafts]


def test_sentences_that_passages_say_stay_with_their_citations() -> None:
    made, asked = written(sentences((IS, [1]), (LAMP, [2])))
    assert shown(made) == [Draft(IS, (0,)), Draft(LAMP, (1,))]
    assert (made.mended, made.left_out, made.read, len(asked)) == (0, 0, 4, 1)


def test_what_is_asked_for() -> None:
    _, [asked] = written(sentences((IS, [1])), words=80)
    assert (asked["temperature"], asked["seed"], asked["model"]) == (0, 1, "m")
    assert asked["response_format"]["json_schema"]["strict"]
    assert asked["max_tokens"] == 3 * 80 + 256
    task, material = (message["content"] for message in asked["messages"])
    assert "not instructions" in task
    data, _, wish = material.rpartition("\n\n")
    assert json.loads(data)["passages"][3] == {"number": 4, "text": PASSAGES[3]}
    assert wish == "Write about 80 words in the language with the code 'en'."


def test_further_fields_are_sent_and_left_out_where_they_are_refused() -> None:
    extra = {"repetition_penalty": 1.05, "temperature": 0.2}
    _, [asked] = written(sentences((IS, [1])), extra=extra)
    assert (asked["repetition_penalty"], asked["temperature"]) == (1.05, 0.2)

    def refuses(number: int, body: dict[str, Any]) -> tuple[int, str] | Reply:
        refused = '{"error": {"message": "Unknown field repetition_penalty"}}'
        return Reply(400, refused) if "repetition_penalty" in body else (200, sentences((IS, [1])))

    with writing(refuses, extra=extra) as (writer, chat):
        assert shown(writer.write(TITLE, PASSAGES)) == [Draft(IS, (0,))]
    assert [body.get("temperature") for _, _, body in chat.asked] == [0.2, 0.2]
    with pytest.raises(ValueError, match="extra has 'model': expected other fields than messages, model, stream"):
        WriterSettings(url="http://h/v1", model="m", extra={"model": "n"})


def test_what_is_being_done_is_told_while_an_answer_comes() -> None:
    answers = [sentences((IS, [1]), ("It was built in 1875.", [1])), sentences((LAMP, [2]))]
    told: list[str] = []
    with writing(lambda number, _: Reply(200, answers[number - 1], pause=0.1)) as (writer, _):
        assert shown(writer.write(TITLE, PASSAGES, told.append)) == [Draft(IS, (0,)), Draft(LAMP, (1,))]
    assert told[0] == "sentences" and "mending" in told
    counts = [one.partition(", ") for one in told if one.endswith(" tokens")]
    assert {doing for doing, _, _ in counts} == {"sentences", "mending"}


@pytest.mark.parametrize("cited", [[], [2], [4, 3], [0, -1, 5, 99]])
def test_wrong_citations_are_replaced_without_a_second_request(cited: list[int]) -> None:
    made, asked = written(sentences((IS, cited)))
    assert (shown(made), len(asked)) == ([Draft(IS, (0,))], 1)


def test_of_passages_that_say_the_same_the_cited_one_stays() -> None:
    twice = [*PASSAGES, PASSAGES[1]]
    for number in (2, 5):
        made, _ = written(sentences((LAMP, [number])), passages=twice)
        assert shown(made) == [Draft(LAMP, (number - 1,))]


def test_an_unsupported_sentence_is_sent_back_once_with_the_reason() -> None:
    wrong = "The lamp of Skerry Point burned whale oil until 1875."
    elsewhere = "The tower was 12,000 metres high until 1871."
    made, asked = written(sentences((IS, [1]), (wrong, [2]), (elsewhere, [4])), sentences((LAMP, [2]), ("", [])))
    assert shown(made) == [Draft(IS, (0,)), Draft(LAMP, (1,))]
    assert (made.mended, made.left_out, len(asked)) == (1, 1, 2)
    first, answer, back = asked[1]["messages"][1:]
    assert first == asked[0]["messages"][1]
    assert json.loads(answer["content"])["sentences"][1] == {"text": wrong, "passages": [2]}
    faults = json.loads(back["content"].splitlines()[-1])
    assert faults == [
        {"text": wrong, "reason": "1875: in no passage"},
        {"text": elsewhere, "reason": "1871: not in passage 4"},
    ]


@pytest.mark.parametrize(("unsupported", "texts"), [("left out", [IS]), ("marked", [IS, "It was built in 1875."])])
def test_what_fails_twice_is_left_out_or_marked(unsupported: str, texts: list[str]) -> None:
    made, asked = written(sentences((IS, [1]), ("It was built in 1875.", [1])), unsupported=unsupported)
    assert ([one.text for one in shown(made)], len(asked)) == (texts, 2)
    assert made.left_out == (unsupported == "left out")
    cited = Citer(TITLE, PASSAGES).cite(made.summary())
    assert [one.verdict for one in cited] == ["said", "not supported"][: len(texts)]


def test_no_sentence_stands_twice() -> None:
    made, _ = written(sentences((IS, [1]), (LAMP, [2]), (IS.upper(), [1]), (LAMP, [2])))
    assert [one.text for one in shown(made)] == [IS, LAMP]


@pytest.mark.parametrize(
    "answer",
    [
        said("I'm sorry, but I can't help with that."),
        said('{"sentences": ['),
        said("{}"),
        sentences(),
        sentences(("Der Leuchtturm wurde 1847 gebaut.", [1])),
    ],
)
def test_an_answer_without_a_supported_sentence_is_asked_for_again_and_then_a_reason(answer: str) -> None:
    with writing(in_turn([answer])) as (writer, chat), pytest.raises(NoAnswerError, match="no_sentence"):
        writer.write(TITLE, PASSAGES)
    assert len(chat.asked) == 2
    assert shown(written(answer, sentences((IS, [1])))[0]) == [Draft(IS, (0,))]


@pytest.mark.parametrize(("answer", "reason"), [(said(""), "no_text"), ("no completion", "no_completion")])
def test_what_is_no_completion_with_text_is_not_asked_for_again_at_once(answer: str, reason: str) -> None:
    with writing(in_turn([answer])) as (writer, chat), pytest.raises(NoAnswerError, match=reason):
        writer.write(TITLE, PASSAGES)
    assert len(chat.asked) == 1


def test_after_a_context_error_half_of_the_passages_are_sent() -> None:
    def script(number: int, body: dict[str, Any]) -> tuple[int, str]:
        words = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"
        refused = json.dumps({"object": "error", "message": words, "code": 400})
        return (400, refused) if number < 3 else (200, sentences((IS, [1])))

    with writing(script) as (writer, chat):
        made = writer.write(TITLE, PASSAGES)
        assert (made.read, shown(made)) == (1, [Draft(IS, (0,))])
    sent = [json.loads(body["messages"][1]["content"].rpartition("\n\n")[0])["passages"] for *_, body in chat.asked]
    assert list(map(len, sent)) == [4, 2, 1]


def test_prose_with_numbers_is_read_and_a_half_answer_kept() -> None:
    assert shown(written(said(f"<think>hm {{</think>{IS}[1] {LAMP} [2]"))[0]) == [Draft(IS, (0,)), Draft(LAMP, (1,))]
    half = json.dumps({"sentences": [{"text": IS, "passages": [1]}, {"text": LAMP, "passages": [2]}]})
    assert [one.text for one in shown(written(said(half[:-30]))[0])] == [IS]


def test_where_the_second_request_fails_what_was_supported_stays() -> None:
    def script(number: int, _: dict[str, Any]) -> tuple[int, str]:
        return (200, sentences((IS, [1]), ("It was built in 1875.", [1]))) if number == 1 else (413, "{}")

    with writing(script) as (writer, _):
        assert [one.text for one in shown(writer.write(TITLE, PASSAGES))] == [IS]


def test_the_best_passages_that_fit_are_sent() -> None:
    many = [f"{passage} Number {number}." for number in range(20) for passage in PASSAGES]
    made, [asked] = written(sentences((IS, [1])), passages=many, context=4096)
    assert 0 < made.read < len(many)
    data = json.loads(asked["messages"][1]["content"].rpartition("\n\n")[0])
    assert [one["text"] for one in data["passages"]] == many[: made.read]
    summary = made.summary()
    assert summary.read == made.read and summary.attention is not None
    assert summary.attention.shape == (1, made.read)


def test_a_context_too_small_is_named_before_anything_is_asked() -> None:
    with pytest.raises(ValueError, match=r"writer\.context: the model has 512 tokens, too few for one passage and an"):
        written(sentences((IS, [1])), context=512)
    with writing(in_turn([""]), context=2700) as (writer, chat), pytest.raises(NoAnswerError, match="context"):
        writer.write(TITLE, ["word " * 5000])
    assert chat.asked == []


OUTLINE = said(
    json.dumps(
        {
            "sections": [
                {"heading": "The lighthouse", "passages": [1, 4]},
                {"heading": "Closed in 1999", "passages": [2, 1]},
                {"heading": "Nothing", "passages": [3]},
            ]
        }
    )
)


def test_a_long_summary_has_headings_each_section_from_its_own_passages() -> None:
    sections = [sentences((IS, [1]), (TOWER, [4])), sentences((LAMP, [2]), (IS, [1])), said("")]
    made, asked = written(OUTLINE, *sections, words=600)
    assert [(heading, [one.text for one in drafts]) for heading, drafts in made.sections] == [
        ("The lighthouse", [IS, TOWER]),
        ("Part 2", [LAMP]),  # as no passage has 1999
    ]
    numbers = [
        [one["number"] for one in json.loads(body["messages"][1]["content"].rpartition("\n\n")[0])["passages"]]
        for body in asked[:3]
    ]
    assert numbers == [[1, 2, 3, 4], [1, 4], [2]]
    assert "Said before" in asked[2]["messages"][1]["content"] and IS in asked[2]["messages"][1]["content"]
    texts = [one.text for one in shown(made)]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("History", True),
        ("Design and Construction", True),
        ("Early Life", True),
        ("Keepers", False),  # perhaps a name
        ("History of Mars", False),
        ("Career 1999", False),
    ],
)
def test_usual_words_of_a_heading_are_no_names(heading: str, shown: bool) -> None:
    outline = said(json.dumps({"sections": [{"heading": one, "passages": [1]} for one in (heading, "Lamp")]}))
    made, _ = written(outline, sentences((IS, [1])), sentences((TOWER, [4])), words=600)
    assert made.sections[0][0] == (heading if shown else "Part 1")


def test_without_a_readable_outline_the_summary_is_one_section() -> None:
    made, asked = written(said("no outline"), sentences((IS, [1])), words=900)
    assert [(heading, len(drafts)) for heading, drafts in made.sections] == [("", 1)]
    assert len(asked) == 2


def test_the_most_that_a_summary_takes_is_more_than_it_takes() -> None:
    usage = {"usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    with writing(in_turn([said("", **usage)]), words=600) as (writer, chat):
        requests, read, _ = writer.most(TITLE, PASSAGES)
        with pytest.raises(NoAnswerError):
            writer.write(TITLE, PASSAGES)
    assert len(chat.asked) <= requests
    assert sum(len(message["content"]) // 4 for _, _, body in chat.asked for message in body["messages"]) <= read


def test_a_fault_of_the_server_is_the_reason() -> None:
    with writing(lambda number, _: Reply(413, "{}")) as (writer, _), pytest.raises(NoAnswerError, match="http_413"):
        writer.write(TITLE, PASSAGES)


def test_the_first_sentence_keeps_no_title_before_it() -> None:
    made, _ = written(sentences((f"{TITLE} {IS}", [1]), (BUILT, [1])))
    assert [one.text for one in shown(made)] == [IS, BUILT]
