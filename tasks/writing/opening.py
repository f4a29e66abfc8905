"""Open a writer: ask its server whether it is there, and how much its model reads."""

from collections.abc import Iterator
from contextlib import contextmanager

from tasks.chat.budget import Budget
from tasks.chat.client import ChatClient
from tasks.crawl.answers import Answers
from tasks.writing.settings import WriterSettings
from tasks.writing.writer import Writer


@contextmanager
def open_writer(
    settings: WriterSettings,
    *,
    words: int,
    language: str | None,
    headings: bool | None = None,
    answers: Answers | None = None,
    budget: Budget | None = None,
    at_once: int = 1,
) -> Iterator[Writer]:
    """Open a writer for the time of the block.

    Args:
        settings: whom to ask.
        words: length to ask for.
        language: ISO 639-1 code; None = that of the passages.
        headings: whether there are sections; None = from 600 words on.
        answers: where answers are kept; None = nowhere.
        budget: what may be spent; None = that of the settings.
        at_once: requests at the same time.

    Raises:
        ChatError: the model cannot be asked.
        ValueError: its context is too small, or the key is not there."""
    with ChatClient(
        settings,
        "writer",
        answers,
        budget or settings.budget(),
        connections=at_once,
        total_seconds=settings.total_seconds,
    ) as client:
        yield Writer(client, settings, words=words, language=language, context=client.check(), headings=headings)


def check_writer(settings: WriterSettings, words: int) -> None:
    """See that a writer can be opened, by one request that costs nothing; raises as `open_writer`."""
    with open_writer(settings, words=words, language=None):
        pass
