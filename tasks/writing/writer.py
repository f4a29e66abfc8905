"""Write, check, mend: a language model's summary of numbered passages, which shows only sentences that they say."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tasks.chat.budget import Budget
from tasks.chat.client import ChatClient
from tasks.chat.completions import THINKING_OFF, TOO_LONG, ChatAnswer, Message, NoAnswerError, tokens
from tasks.engine.data_files import read_data
from tasks.evaluation.entailment import Entailment, label_ids
from tasks.fetching.answers import Answers
from tasks.ranking.folders import check_installed, folder_digest
from tasks.text.content_words import words_of
from tasks.writing.checking import Checked, Checker, Written
from tasks.writing.local_model import LocalModel, model_digest, model_file
from tasks.writing.messages import (
    SECTIONS,
    SENTENCES,
    mend_messages,
    one_messages,
    outline_messages,
    passage_json,
    write_messages,
)
from tasks.writing.one_by_one import ANSWER, NO_SENTENCE, most_passages, write_one_by_one
from tasks.writing.reading import Draft, read_sections, read_sentences
from tasks.writing.settings import OUTLINED, WriterSettings

_ENTAILMENT = "writer.entailment"
CONTEXT = 4096  # tokens, where neither the settings nor the server say more: what Ollama begins with
_TOKENS_A_WORD = 3  # tokens a word of an answer: with its JSON, and twice as many as English takes
_ANSWER = 256  # tokens besides those of its words
SEED = 1  # sent with temperature 0, where the server takes one
_PASSAGE = 200  # tokens of one, at least
_REPORT_SECONDS = 1.0  # between two reports of an answer that is streamed
_SILENT_SECONDS = 300.0  # limit for the next part; such a request is not repeated: it would take as long
_SECTION = 200  # words
_MOST_SECTIONS = 12
# Words that begin a heading with a capital, and are not names.
_HEADINGS = frozenset(read_data("tasks.writing", "headings.toml")["words"].split())
_UNREADABLE = "there is no sentence in your answer: expected the JSON object"


@dataclass(frozen=True)
class Writer:
    """Writes summaries; usable from many threads. Raises ValueError: the context has no room for a passage."""

    client: ChatClient
    settings: WriterSettings  # what becomes of unsupported sentences, and what is sent
    words: int  # length to ask for
    language: str | None  # ISO 639-1 code; None = that of the passages
    served: int | None = None  # tokens that the model reads and writes together, as the server says; None = it does not
    headings: bool | None = None  # whether there are sections; None = from 600 words on
    entailment: Entailment | None = None  # what sentences have to pass besides the verifier; None = nothing
    parameters: int | None = None  # of the model; None = unknown

    def __post_init__(self) -> None:
        if not self.one_by_one and self._room("") < _PASSAGE:
            raise ValueError(
                f"writer.context: the model has {self._context:,} tokens, too few for one passage and an answer of "
                f"{self.words:,} words: expected {self._context - self._room('') + _PASSAGE:,}, or fewer words"
            )

    @property
    def _context(self) -> int:
        return self.settings.context or self.served or CONTEXT

    @property
    def one_by_one(self) -> bool:
        """Whether each passage is asked about alone."""
        return self.settings.asks_one_by_one(self.parameters)

    def write(self, title: str, passages: Sequence[str], said: Callable[[str], None] | None = None) -> Written:
        """Return a summary; the fewer passages are read, the smaller the model's context. `title`: of the article.
        `passages`: best first, at least one. `said`: called with what is being done, in a few words, about once a
        second while an answer is streamed; None = it comes as a whole. Raises NoAnswerError: the model gave no summary;
        it says why; ChatError: the model cannot be asked any more."""
        if self.one_by_one:
            return write_one_by_one(
                title,
                passages,
                self.words,
                self.language,
                ask=self._ask_plainly,
                entailment=self.entailment,
                said=said or (lambda now: None),
            )
        sent = self.fitting(title, passages)
        while True:
            try:
                return _Summary(self, title, passages, sent, said).write()
            except NoAnswerError as fault:
                if fault.reason != TOO_LONG or len(sent) == 1:
                    raise
                sent = sent[: len(sent) // 2]  # tables and addresses have more tokens than their letters say

    def first(self, title: str, passages: Sequence[str]) -> ChatAnswer:
        """Return the answer to the first request for a summary without sections; raises as `write`."""
        if self.one_by_one:
            return self._ask_plainly(one_messages(title, passages[0], self.language), ANSWER)
        summary = _Summary(self, title, passages, self.fitting(title, passages), None)
        return summary.ask(self._request(title, self.fitting(title, passages)), self.words, SENTENCES)

    def fitting(self, title: str, passages: Sequence[str]) -> list[str]:
        """Return the best passages that a request has room for, as they are sent; NoAnswerError: not even one."""
        room, sent = self._room(title), list[str]()
        for rank, text in enumerate(passages):
            sent.append(passage_json(rank, text))
            room -= tokens([{"content": sent[-1]}])
            if room < 0:
                sent.pop()
                break
        if not sent:
            raise NoAnswerError("context")
        return sent

    def most(self, title: str, passages: Sequence[str]) -> tuple[int, int, int]:
        """Return requests, tokens read and tokens written that a summary takes at most."""
        if self.one_by_one:
            sent = passages[: most_passages(self.words, len(passages))]
            read = sum(tokens(one_messages(title, passage, self.language)) for passage in sent)
            return len(sent), read, len(sent) * (ANSWER + self.settings.thinking)
        sent, answer = self.fitting(title, passages), _answer(self.words)
        sections = self.sections(len(sent))
        requests = 2 * sections + (sections > 1)
        first = tokens(self._request(title, sent))
        written = (1 + (sections > 1)) * 2 * answer + requests * self.settings.thinking
        return requests, requests * (first + 2 * answer), written

    def sections(self, passages: int) -> int:
        """Return how many sections a summary of so many passages has."""
        outlined = self.words >= OUTLINED if self.headings is None else self.headings
        wanted = max(2, round(self.words / _SECTION)) if outlined else 1
        return max(1, min(wanted, passages, _MOST_SECTIONS))

    def _ask_plainly(self, messages: Sequence[Message], limit: int) -> ChatAnswer:
        """Return an answer in plain words, streamed so that one that repeats itself is stopped."""
        return self.client.ask(messages, _hear_nothing, **self.fields(limit))

    def fields(self, limit: int) -> dict[str, Any]:
        """Return the fields of a request whose answer has at most so many tokens, thinking apart."""
        thinking = self.settings.thinking
        common: dict[str, Any] = {"seed": SEED, "max_tokens": limit + thinking}
        return common | ({} if thinking else dict(THINKING_OFF)) | self.settings.extra

    def _room(self, title: str) -> int:
        """Return the tokens for passages: the second request holds the first one's answer, and reasons as well."""
        return self._context - 3 * _answer(self.words) - self.settings.thinking - tokens(self._request(title, []))

    def _request(self, title: str, sent: Sequence[str]) -> list[Message]:
        return write_messages(title, sent, self.words, self.language)


def _hear_nothing(_tokens: int) -> None:
    """Receive a streamed answer."""


def _answer(words: int) -> int:
    """Return the tokens of an answer of so many words, at most."""
    return _TOKENS_A_WORD * words + _ANSWER


class _Summary:
    """One summary in the making."""

    def __init__(
        self,
        writer: Writer,
        title: str,
        passages: Sequence[str],
        sent: Sequence[str],
        said: Callable[[str], None] | None,
    ) -> None:
        self._writer, self._title, self._reports, self._doing = writer, title, said, ""
        self._reported = 0.0
        self._sent = sent
        self._checker = Checker(title, passages, len(self._sent), writer.entailment)
        self._told: set[tuple[str, ...]] = set()  # words of the sentences so far
        self._shown: list[str] = []
        self._mended = self._left_out = 0
        self._models: Counter[str] = Counter()

    def write(self) -> Written:
        sections: list[tuple[str, Sequence[Draft]]] = []
        fault = NoAnswerError(NO_SENTENCE)
        for heading, ranks, words in self._outline():
            self._said(f"section {len(sections) + 1}: {heading}" if heading else "sentences")
            sent = [self._sent[rank] for rank in ranks]
            request = write_messages(self._title, sent, words, self._writer.language, heading=heading, told=self._shown)
            try:
                if sentences := self._sentences(request, frozenset(ranks), words):
                    sections.append((heading, sentences))
            except NoAnswerError as error:  # what other sections say stays
                fault = error
        if not sections:
            raise fault
        return Written(sections, len(self._sent), self._mended, self._left_out, self._models)

    def _outline(self) -> Iterator[tuple[str, Sequence[int], int]]:
        """Yield heading, ranks of the passages, and words of each section."""
        every, words = range(len(self._sent)), self._writer.words
        number, planned = self._writer.sections(len(self._sent)), []
        if number > 1:
            self._said("an outline")
            asked = outline_messages(self._title, self._sent, number, self._writer.language)
            planned = read_sections(self.ask(asked, words, SECTIONS).text, len(self._sent))[:number]
        if not planned:
            yield "", every, words
        for index, (heading, ranks) in enumerate(planned, 1):
            lacking = [
                item for item in self._checker.lacking(heading) if not _HEADINGS.issuperset(item.lower().split())
            ]
            true = heading and not lacking
            yield heading if true else f"Part {index}", ranks, words // len(planned)

    def _sentences(self, request: list[Message], ranks: frozenset[int], words: int) -> list[Draft]:
        """Return the sentences of a section that are shown, each once."""
        written = self._read(self.ask(request, words, SENTENCES), ranks)
        checked = self._checker.check(written)
        failed = [number for number, one in enumerate(checked) if not one.supported]
        if failed or not checked:
            self._said("mending")
            faults = [(checked[number].draft.text, checked[number].reason) for number in failed]
            told = mend_messages([(item.text, item.ranks) for item in written], faults or [("", _UNREADABLE)])
            try:
                there = {item.draft.text for item in checked}  # some models write the whole summary again
                answer = self._read(self.ask([*request, *told], words, SENTENCES), ranks)
                again = [item for item in answer if item.text not in there]
                better = self._checker.check(again)
                if not checked:
                    checked = better
                # The mended ones replace those that failed, in order.
                for number, one in zip(failed, (each for each in better if each.supported), strict=False):
                    checked[number] = one
                    self._mended += 1
            except NoAnswerError:
                if len(failed) == len(checked):
                    raise
        return [item.draft for item in checked if self._stays(item)]

    def _stays(self, one: Checked) -> bool:
        """Whether a sentence is shown: not if it fails, unless such are marked, and not if it was said before."""
        if not one.supported and (self._writer.settings.unsupported == "left out" or not one.marked):
            self._left_out += 1
            return False
        words = tuple(words_of(one.draft.text))
        if words in self._told:
            return False
        self._told.add(words)
        self._shown.append(one.draft.text)
        return True

    def _read(self, answer: ChatAnswer, ranks: frozenset[int]) -> list[Draft]:
        drafts = read_sentences(answer.text, len(self._sent), cut=answer.cut)
        return [replace(draft, ranks=tuple(rank for rank in draft.ranks if rank in ranks)) for draft in drafts]

    def _said(self, doing: str) -> None:
        self._doing, self._reported = doing, time.monotonic()
        if self._reports is not None:
            self._reports(doing)

    def _heard(self, tokens: int) -> None:
        if self._reports is not None and time.monotonic() - self._reported >= _REPORT_SECONDS:
            self._reported = time.monotonic()
            self._reports(f"{self._doing}, {tokens:,} tokens")

    def ask(self, messages: Sequence[Message], words: int, form: Mapping[str, Any]) -> ChatAnswer:
        """Return the answer to a request, in that form; raises as `ChatClient.ask`."""
        answer = self._writer.client.ask(
            messages, self._heard, **{"response_format": dict(form), **self._writer.fields(_answer(words))}
        )
        self._models[answer.model] += 1
        return answer


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
    """Open a writer for the time of the block. `words`, `language` and `headings` as of `Writer`. `answers`: where they
    are kept, None = nowhere. `budget`: what may be spent, None = that of the settings. `at_once`: requests at the same
    time. `device`: where the model of entailment runs: auto | cpu | cuda | cuda:N.

    Raises ChatError: the model cannot be asked; ValueError: its context is too small, the key is not there, or the
    folder holds no model of entailment; FileNotFoundError: that folder lacks a file."""
    entailment = None if settings.entailment is None else _loaded(settings.entailment, device)
    here = None if settings.folder is None else LocalModel(settings.folder, settings.model)
    with ChatClient(
        settings,
        "writer",
        answers,
        budget or settings.budget(),
        connections=at_once,
        total_seconds=_SILENT_SECONDS,
        here=here,
    ) as client:
        parameters = None if here is None else here.parameters
        yield Writer(client, settings, words, language, client.check(), headings, entailment, parameters)


def check_writer(settings: WriterSettings, words: int) -> None:
    """See that a writer can be opened, by one request that costs nothing, or a look at its files; raises as
    `open_writer`."""
    if settings.entailment is not None:
        label_ids(settings.entailment, _ENTAILMENT)
        check_installed({"transformers": ""}, _ENTAILMENT)
    if settings.folder is not None:
        model_file(settings.folder)
        return
    with open_writer(settings.model_copy(update={"entailment": None}), words=words, language=None):
        pass


def writer_notes(settings: WriterSettings) -> dict[str, str]:
    """Return the digests of the folders' models, which decide a writer's summaries too: settings only name the
    folders."""
    notes = {} if settings.folder is None else {"model_sha256": model_digest(settings.folder)}
    if settings.entailment is not None:
        label_ids(settings.entailment, _ENTAILMENT)
        notes["entailment_sha256"] = folder_digest(settings.entailment)
    return notes


@lru_cache(maxsize=1)
def _loaded(folder: str, device: str) -> Entailment:
    """Return the model of a folder, which the shards and the page's summaries of a process share."""
    from tasks.evaluation.folder_models import EntailmentModel  # here, because few need torch to ask a server

    return EntailmentModel(folder, _ENTAILMENT, device)
