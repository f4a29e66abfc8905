"""A language model as a judge, behind a real server on loopback."""

import json
import logging
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pytest

from tasks.chat.client import ChatError, chat_url
from tasks.chat.settings import read_key
from tasks.engine.job import Scratch
from tasks.evaluation.chat_judge import ChatJudge, JudgeMarks, prepare, read_marks
from tasks.evaluation.metrics import COMPUTED, ArticleTexts, Summary
from tasks.evaluation.settings import JudgeSettings
from tests.tasks.chat.chat_server import Chat, chat_server, marks, said, slowly

ARTICLE = ArticleTexts("River Nilir", "lead", ["It is 395 kilometres long.", "Otto Lund has 12 mills."], [])
KEY = "WIKISUM_TEST_JUDGE_KEY"
SUMMARIES = [f"It is {length} kilometres long." for length in range(10)]


def judge(chat: Chat, folder: Path, *, total_seconds: float = 60.0, **settings: Any) -> ChatJudge:
    scratch = Scratch(pafs.LocalFileSystem(), str(folder / "scratch"))
    chosen = JudgeSettings(url=chat.url, model="m", **settings)
    return ChatJudge(chosen, scratch, total_seconds=total_seconds, backoff_seconds=0.01)


def scores(client: ChatJudge, text: str = SUMMARIES[0], read: int | None = None) -> dict[str, float]:
    score = prepare(ARTICLE, COMPUTED["chat_judge"], judge=client)
    return {name: found.value for name, found in score(Summary(text, read)).items()}


def test_marks_are_shown_as_shares(tmp_path: Path) -> None:
    with chat_server(lambda number, body: (200, marks(5, 2, 1))) as chat, judge(chat, tmp_path) as client:
        assert scores(client) == {
            "judge-faithfulness": 1.0,
            "judge-coverage": 0.25,
            "judge-fluency": 0.0,
            "judge-answered": 1.0,
        }
        assert set(COMPUTED["chat_judge"]) == set(scores(client))


def test_what_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paragraphs that were read and no others, the summary, temperature 0, and the key as a header."""
    monkeypatch.setenv(KEY, "secret")
    with (
        chat_server(lambda number, body: (200, marks(5, 5, 5))) as chat,
        judge(chat, tmp_path, key_variable=KEY) as client,
    ):
        scores(client, "It is long.", read=1)
    [(path, headers, body)] = chat.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert (body["model"], body["temperature"]) == ("m", 0)
    task, material = (message["content"] for message in body["messages"])
    assert '{"faithfulness": 1-5, "coverage": 1-5, "fluency": 1-5}' in task
    assert material == ("Subject: River Nilir\n\nParagraphs:\n[1] It is 395 kilometres long.\n\nSummary:\nIt is long.")


def test_without_a_key_none_is_sent(tmp_path: Path) -> None:
    with chat_server(lambda number, body: (200, marks(5, 5, 5))) as chat, judge(chat, tmp_path) as client:
        scores(client)
    assert "Authorization" not in chat.asked[0][1]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_judge_is_asked_again(status: int, tmp_path: Path) -> None:
    def script(number: int, _: dict[str, Any]) -> tuple[int, str]:
        return (status, "{}") if number < 3 else (200, marks(3, 3, 3))

    with chat_server(script) as chat, judge(chat, tmp_path) as client:
        assert scores(client)["judge-faithfulness"] == 0.5
    assert len(chat.asked) == 3


def test_a_slow_answer_is_not_waited_for_longer_than_the_limit(tmp_path: Path) -> None:
    with chat_server(slowly(marks(5, 5, 5), 3.0)) as chat, judge(chat, tmp_path, total_seconds=1.0) as client:
        assert scores(client) == {"judge-answered": 0.0}
        assert client.unmarked == {"timeout": 1}
    assert len(chat.asked) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (one, "bad_answer")
        for one in (
            said("I would say four."),
            said('{"faithfulness": 6, "coverage": 1, "fluency": 1}'),
            said('{"faithfulness": 4, "coverage": 1}'),
            said("{faithfulness: 4}"),
        )
    ]
    + [
        (said(""), "no_text"),
        ("no JSON", "no_completion"),
        ("[]", "no_completion"),
        ('{"choices": []}', "no_completion"),
        ('{"choices": [{"message": {"content": null}}]}', "no_text"),
    ],
)
def test_an_answer_without_marks_is_counted_and_said(
    answer: str, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with chat_server(lambda number, body: (200, answer if number == 1 else marks(5, 5, 5))) as chat:
        with caplog.at_level(logging.WARNING), judge(chat, tmp_path) as client:
            assert scores(client) == {"judge-answered": 0.0}
            assert scores(client, SUMMARIES[1])["judge-answered"] == 1.0
            assert client.unmarked == {reason: 1}
        assert f"m gave no marks to 1 of 2: {reason} 1" in caplog.text


def test_a_refused_summary_is_counted_and_the_next_one_asked(tmp_path: Path) -> None:
    def script(number: int, _: dict[str, Any]) -> tuple[int, str]:
        return (400, "{}") if number == 1 else (200, marks(5, 5, 5))

    with chat_server(script) as chat, judge(chat, tmp_path) as client:
        assert scores(client) == {"judge-answered": 0.0}
        assert scores(client, SUMMARIES[1])["judge-answered"] == 1.0
        assert client.unmarked == {"http_400": 1}
    assert len(chat.asked) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_judge_that_refuses_everybody_ends_the_work(status: int, tmp_path: Path) -> None:
    with chat_server(lambda number, body: (status, "{}")) as chat, judge(chat, tmp_path) as client:
        with pytest.raises(ChatError, match=rf"/v1/chat/completions gave no answer: http_{status}"):
            scores(client)
        assert len(chat.asked) == 1


def test_a_judge_that_is_away_ends_the_work_and_an_answer_between_does_not(tmp_path: Path) -> None:
    """The fifth failure in a row; four before an answer are forgotten."""
    failing = {1, 2, 3, 4, 6, 7, 8, 9, 10}

    def script(number: int, _: dict[str, Any]) -> tuple[int, str]:
        return (400, "{}") if number in failing else (200, marks(5, 5, 5))

    with chat_server(script) as chat, judge(chat, tmp_path) as client:
        found = [scores(client, text)["judge-answered"] for text in SUMMARIES[:9]]
        assert found == [0, 0, 0, 0, 1, 0, 0, 0, 0]
        with pytest.raises(ChatError, match="5 times in a row: http_400"):
            scores(client, SUMMARIES[9])


def test_calls_are_capped_and_what_is_not_asked_is_counted(tmp_path: Path) -> None:
    with chat_server(lambda number, body: (200, marks(5, 5, 5))) as chat:
        with judge(chat, tmp_path, most_calls=2) as client:
            assert [scores(client, text)["judge-answered"] for text in SUMMARIES[:4]] == [1, 1, 0, 0]
            assert scores(client, SUMMARIES[0])["judge-answered"] == 1  # known already
            assert client.unmarked == {"not_asked": 2}
        with judge(chat, tmp_path, most_calls=2) as client:
            assert [scores(client, text)["judge-answered"] for text in SUMMARIES[:3]] == [1, 1, 0]
    assert len(chat.asked) == 2


def test_an_interrupted_shard_pays_for_no_answer_twice(tmp_path: Path) -> None:
    with chat_server(lambda number, body: (200, marks(number, 1, 1))) as chat:
        for _ in range(2):
            with judge(chat, tmp_path) as client:
                assert [scores(client, text)["judge-faithfulness"] for text in SUMMARIES[:2]] == [0, 0.25]
    assert len(chat.asked) == 2


def test_nobody_is_asked_about_an_empty_summary(tmp_path: Path) -> None:
    with chat_server(lambda number, body: (200, "")) as chat, judge(chat, tmp_path) as client:
        assert scores(client, " ") == {"judge-faithfulness": 0.0, "judge-coverage": 0.0, "judge-fluency": 0.0}
    assert chat.asked == []


@pytest.mark.parametrize(
    "text",
    [
        '{"faithfulness": 4, "coverage": 3, "fluency": 2}',
        'Here:\n```json\n{\n "faithfulness": 4,\n "coverage": 3,\n "fluency": 2, "why": "..."}\n```\nIs that all?',
        '<think>{"faithfulness": 1} or so</think>{"faithfulness": "4", "coverage": 3.0, "fluency": 2}',
    ],
)
def test_marks_are_found_in_what_models_write(text: str) -> None:
    assert read_marks(text) == JudgeMarks(faithfulness=4, coverage=3, fluency=2)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("http://h/v1", "http://h/v1/chat/completions"),
        ("http://h/v1/", "http://h/v1/chat/completions"),
        ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1?api-version=1", "http://h/v1/chat/completions?api-version=1"),
    ],
)
def test_address_of_chats(given: str, asked: str) -> None:
    assert chat_url(given) == asked


@pytest.mark.parametrize(("held", "found"), [(None, "none"), ("", "none"), ("a\nb", "something else")])
def test_a_key_that_is_not_there_is_refused(held: str | None, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY, raising=False)
    if held is not None:
        monkeypatch.setenv(KEY, held)
    with pytest.raises(ValueError, match=rf"{KEY}.* expected an environment variable .* it holds {found}"):
        read_key(JudgeSettings(url="http://h/v1", model="m", key_variable=KEY), "scoring.judge")


def test_no_key_is_part_of_settings_or_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "secret")
    settings = JudgeSettings(url="http://h/v1", model="m", key_variable=KEY)
    assert read_key(settings, "scoring.judge") == "secret"
    assert "secret" not in settings.model_dump_json() + json.dumps(settings.recipe())
    assert settings.recipe() == {"url": "http://h/v1", "model": "m", "most_calls": 1_000}
