"""One request to a language model, and what is said of its answer."""

import pytest

from tasks.chat.client import ChatError
from tasks.writing.settings import WriterSettings
from tasks.writing.trial import Trial
from tests.tasks.chat.chat_server import Reply, chat_server, said, sentences
from tests.tasks.writing.scripted import IS


def test_what_was_read_is_said_with_reasons() -> None:
    answer = sentences((IS, [1]), ("It was built in 1066.", [1]))
    with chat_server(lambda number, _: (200, answer)) as chat:
        trial = Trial.run(WriterSettings(url=chat.url, model="m", context=9000), 150, "en")
        lines = list(trial.lines())
    assert len(chat.asked) == 1
    assert lines[0] == "model: without a name, context: 9,000 tokens"
    assert lines[2:] == [
        "sentences: 2 read, 1 kept",
        f"kept [1]: {IS}",
        "refused (1066: in no passage): It was built in 1066.",
    ]


def test_the_words_of_the_server_and_an_unreadable_answer_are_shown() -> None:
    with chat_server(lambda number, _: Reply(200, '{"error": "no such endpoint"}')) as chat:
        settings = WriterSettings(url=chat.url, model="m", context=9000)
        with pytest.raises(ChatError, match=r"m at http://.*/v1 gave no answer: server_error: no such endpoint"):
            Trial.run(settings, 150, "en")
    with chat_server(lambda number, _: Reply(200, said("{}"))) as chat:
        trial = Trial.run(WriterSettings(url=chat.url, model="m", context=9000), 150, "en")
    assert list(trial.lines())[3] == "the answer, of which nothing could be read: '{}'"
