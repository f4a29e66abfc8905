"""Open a writer: ask its server whether it is there, and how much its model reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from tasks.chat.budget import Budget
from tasks.chat.client import ChatClient
from tasks.crawl.answers import Answers
from tasks.evaluation.entailment import Entailment, check_entailment, entailment_digest
from tasks.writing.settings import WriterSettings
from tasks.writing.writer import Writer

_ENTAILMENT = "writer.entailment"


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
    device: str = "auto",
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
        device: where the model of entailment runs: auto | cpu | cuda | cuda:N.

    Raises:
        ChatError: the model cannot be asked.
        ValueError: its context is too small, the key is not there, or the folder holds no model of entailment.
        FileNotFoundError: that folder lacks a file."""
    entailment = None if settings.entailment is None else _loaded(settings.entailment, device)
    with ChatClient(
        settings,
        "writer",
        answers,
        budget or settings.budget(),
        connections=at_once,
        total_seconds=settings.total_seconds,
    ) as client:
        context = client.check()
        yield Writer(
            client, settings, words=words, language=language, context=context, headings=headings, entailment=entailment
        )


def check_writer(settings: WriterSettings, words: int) -> None:
    """See that a writer can be opened, by one request that costs nothing; raises as `open_writer`."""
    if settings.entailment is not None:
        check_entailment(settings.entailment, _ENTAILMENT)
    with open_writer(settings.model_copy(update={"entailment": None}), words=words, language=None):
        pass


def writer_notes(settings: WriterSettings) -> dict[str, str]:
    """Return what decides a writer's summaries beside its settings, which name a folder: the digest of its model."""
    if settings.entailment is None:
        return {}
    return {"entailment_sha256": entailment_digest(settings.entailment, _ENTAILMENT)}


@lru_cache(maxsize=1)
def _loaded(folder: str, device: str) -> Entailment:
    """Return the model of a folder, which the shards and the page's summaries of a process share."""
    from tasks.evaluation.entailment_model import EntailmentModel  # here, because few need torch to ask a server

    return EntailmentModel(folder, _ENTAILMENT, device)
