"""Summaries that people wait for: a few at the same time, the others in order of arrival. Finished ones are small files
on the root, which can be listed, searched, read again and deleted."""

import logging
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from storage.errors import StorageError
from storage.store import Store
from tasks.cited_summary.cited import CitedSummary, SummarySource
from tasks.cited_summary.editing import with_pinned
from tasks.cited_summary.pipeline import Report, SourcePage
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource, is_web_address
from tasks.engine.closing import Closing
from tasks.engine.progress import Progress
from tasks.text.language import LanguageCode

logger = logging.getLogger(__name__)


@dataclass
class SummaryJob:
    """One request and, once it is done, its summary."""

    id: str  # unguessable: whoever knows it may read the summary
    title: str  # of the summary; "" until it is done = one is suggested
    given: Sequence[GivenSource]  # its sources; once it is done, with what was fetched of them
    choice: str  # which system is to write, as `chosen_system` takes it
    settings: SummarySettings  # length, language and headings among them
    state: Literal["waiting", "working", "done", "failed", "cancelled"] = "waiting"
    progress: Progress = field(default_factory=lambda: Progress("waiting", 0.0))  # the present step
    error: str = ""  # why it failed, for people
    summary: CitedSummary | None = None  # the result
    asked_of: str = ""  # id of the summary of whose sources `title` is a question; "" = `title` is a topic
    about: str = ""  # the topic of that summary
    pinned: Sequence[str] = ()  # sentences that it begins with
    pages: Mapping[int, SourcePage] = field(default_factory=dict)  # the sources as fetched, by number
    # set once nobody needs it any more; its work then ends at its next report
    cancelling: threading.Event = field(default_factory=threading.Event)

    @property
    def topic(self) -> tuple[str, str]:
        """The topic, and the question about it; "" = none."""
        return (self.about, self.title) if self.about else (self.title, "")

    @property
    def ended(self) -> bool:
        """Whether it will not change any more."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def bytes(self) -> int:
        """Bytes of the sources kept in memory."""
        return sum(len(source.body or b"") for source in self.given)


Work = Callable[[SummaryJob, Report], tuple[CitedSummary, dict[int, SourcePage]]]


class TooBusyError(Exception):
    """So many requests wait that another one is refused."""


class CancelledError(Exception):
    """Raised by the report of a summary that nobody needs any more, so that its work ends there."""


class Jobs(Closing):
    """The queue; usable from many threads."""

    def __init__(
        self,
        work: Work,
        at_once: int,
        *,
        keep: Callable[[SummaryJob], None] = lambda job: None,
        waiting: int = 50,
        kept: int = 200,
        kept_bytes: int = 1 << 30,
    ) -> None:
        """Start the workers. `work`: makes a summary; what its report raises has to end it, so it reports often.
        `at_once`: summaries made at the same time. `keep`: called with every finished one; what it raises is logged.
        `waiting`: requests that may wait for their turn; a further one is refused. `kept`: ended requests that are
        remembered, the oldest are forgotten first, the last one never. `kept_bytes`: the most that their sources may
        take together."""
        self._work, self._keep = work, keep
        self._most_waiting, self._kept, self._kept_bytes = waiting, kept, kept_bytes
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="summary")
        self._jobs: OrderedDict[str, SummaryJob] = OrderedDict()  # oldest first
        self._lock = threading.Lock()

    def submit(
        self,
        title: str,
        given: Sequence[GivenSource],
        choice: str,
        settings: SummarySettings,
        *,
        asked_of: str = "",
        about: str = "",
        pinned: Sequence[str] = (),
    ) -> SummaryJob:
        """Add a request at the end of the queue; for the arguments see `SummaryJob`. Raises TooBusyError: the queue is
        full."""
        id_ = secrets.token_urlsafe(16)
        job = SummaryJob(id_, title, given, choice, settings, asked_of=asked_of, about=about, pinned=pinned)
        with self._lock:
            if sum(other.state == "waiting" for other in self._jobs.values()) >= self._most_waiting:
                raise TooBusyError(f"{self._most_waiting} summaries are waiting already: try again later")
            self._jobs[job.id] = job
        self._pool.submit(self._run, job)
        return job

    def get(self, id_: str) -> SummaryJob | None:
        """Return a job, or None for one that is unknown or no longer kept."""
        return self._jobs.get(id_)

    def place(self, job: SummaryJob) -> int:
        """Return how many requests are made before a waiting one, those in work included."""
        with self._lock:
            ids = list(self._jobs)
            before = ids[: ids.index(job.id)] if job.id in self._jobs else []
            return sum(self._jobs[id_].state in ("waiting", "working") for id_ in before)

    def forget(self, id_: str) -> None:
        """Drop a request that has ended; any other one stays."""
        with self._lock:
            if id_ in self._jobs and self._jobs[id_].ended:
                del self._jobs[id_]

    def cancel(self, job: SummaryJob) -> None:
        """End a summary: a waiting one at once, one in work at its next report; one that has ended stays as it is."""
        with self._lock:
            job.cancelling.set()
            if job.state == "waiting":
                job.state, job.given = "cancelled", ()

    def close(self) -> None:
        """Cancel every request, and wait until those in work have ended."""
        for job in list(self._jobs.values()):
            self.cancel(job)
        self._pool.shutdown(cancel_futures=True)

    def _run(self, job: SummaryJob) -> None:
        with self._lock:  # either this or `cancel` is first
            if job.state == "cancelled":
                return
            job.state = "working"

        def report(now: Progress) -> None:
            if job.cancelling.is_set():
                raise CancelledError
            job.progress = now

        try:
            summary, job.pages = self._made(job, report)
            job.summary = with_pinned(summary, job.pinned, job.settings.words)
            job.title = job.summary.title
            # They share memory with what was read of them, so that writing again fetches nothing twice.
            read = [job.pages.get(number) for number in range(1, len(job.given) + 1)]
            job.given = [
                replace(item, **vars(page)) if page else item for item, page in zip(job.given, read, strict=True)
            ]
            try:
                self._keep(job)
            except StorageError:
                logger.exception("a summary is not kept on the root, and gone when the server ends")
            job.state = "done"
        except CancelledError:
            job.state = "cancelled"
        except ValueError as error:
            job.error, job.state = str(error), "failed"
        except Exception as error:  # one request must not end the worker that makes the others
            logger.exception("a summary failed")
            job.error = f"an error of this program ({type(error).__name__}); its log has the details"
            job.state = "failed"
        if job.state == "cancelled":
            job.given = ()
        self._forget_old()

    def _made(self, job: SummaryJob, report: Report) -> tuple[CitedSummary, Mapping[int, SourcePage]]:
        """Return the summary, by the extractive system if the one that was asked for fails."""
        try:
            return self._work(job, report)
        except CancelledError:
            raise
        except Exception as error:
            if job.choice == "extractive":
                raise
            logger.exception("a summary failed and is made by the extractive system")
            summary, pages = self._work(replace(job, choice="extractive"), report)
            said = str(error) if isinstance(error, ValueError) else f"an error: {type(error).__name__}"
            note = (
                f"The system that was asked for gave no summary ({said}), so whole sentences of the sources are chosen."
            )
            return replace(summary, notes=[note, *summary.notes]), pages

    def _forget_old(self) -> None:
        with self._lock:
            ended = [job for job in self._jobs.values() if job.ended]
            while len(ended) > 1 and (len(ended) > self._kept or sum(job.bytes for job in ended) > self._kept_bytes):
                del self._jobs[ended.pop(0).id]


FOLDER = "summaries"
_ID = re.compile(r"[\w-]{22}", re.ASCII)  # as `Jobs` makes them, so that a name cannot leave the folder


@dataclass(frozen=True)
class _Kept:
    """The content of a file: the summary, and its request."""

    choice: str
    words: int
    language: LanguageCode | None
    headings: bool | None
    summary: CitedSummary
    asked_of: str = ""


@dataclass(frozen=True)
class KeptEntry:
    """A line of the list."""

    id: str
    title: str
    made: str  # UTC time, ISO 8601
    system: str
    sources: int  # how many were given
    begins: str  # the first sentence
    asked_of: str = ""  # id of the summary of whose sources it answers a question


class KeptSummaries:
    """The files; usable from many threads. Their text is held in memory for the search."""

    def __init__(self, store: Store, settings: SummarySettings) -> None:
        """Take the root, and the settings that a summary's file does not have."""
        self._store, self._settings = store, settings
        self._file = TypeAdapter(_Kept)
        self._listed: dict[str, tuple[KeptEntry, str] | None] = {}  # None for a file that is not a summary

    def save(self, job: SummaryJob) -> None:
        """Keep a finished summary. Raises StorageError: it cannot be written."""
        if job.summary is None:
            return
        asked = job.settings
        sources = [replace(one, fetched=False) for one in job.summary.sources]  # their bytes are not kept
        summary = replace(job.summary, sources=sources)
        kept = _Kept(job.choice, asked.words, asked.language, asked.headings, summary, job.asked_of)
        self._store.write_bytes(_name(job.id), self._file.dump_json(kept, indent=1))
        self._listed.pop(job.id, None)

    def get(self, id_: str) -> SummaryJob | None:
        """Return a summary as if it had just been made; None if there is none of that id. Its sources are the texts
        that were read, or addresses to be fetched again."""
        if (kept := self._read(id_)) is None:
            return None
        given = [_given(source) for source in kept.summary.sources]
        settings = self._settings.model_copy(
            update={"words": kept.words, "language": kept.language, "headings": kept.headings}
        )
        job = SummaryJob(id_, kept.summary.title, given, kept.choice, settings, "done", summary=kept.summary)
        job.asked_of, job.about = kept.asked_of, kept.summary.about
        return job

    def delete(self, id_: str) -> None:
        """Remove a summary, and the answers to questions that were asked of it, if it is there."""
        if _ID.fullmatch(id_):
            for entry in self.questions(id_):
                self._store.delete(_name(entry.id))
            self._store.delete(_name(id_))

    def questions(self, id_: str) -> list[KeptEntry]:
        """Return the questions that were asked of a summary, in the order in which they were answered."""
        asked = [entry for entry, _ in self._entries() if entry.asked_of == id_]
        return sorted(asked, key=lambda entry: entry.made)

    def find(self, search: str) -> list[KeptEntry]:
        """Return the summaries that contain every word of a search, in title, sentences or names of sources; the newest
        first. Answers to questions are with their summaries. Raises StorageError: the root cannot be listed."""
        words = search.casefold().split()
        found = [entry for entry, text in self._entries() if not entry.asked_of and all(word in text for word in words)]
        return sorted(found, key=lambda entry: entry.made, reverse=True)

    def _entries(self) -> list[tuple[KeptEntry, str]]:
        """Return every kept summary with its text in lower case."""
        there = [name.removesuffix(".json") for name in self._store.sizes(FOLDER)]
        for id_ in [item for item in there if item not in self._listed]:
            kept = self._read(id_)
            self._listed[id_] = None if kept is None else _listed(id_, kept)
        return [line for id_ in there if (line := self._listed[id_]) is not None]

    def _read(self, id_: str) -> _Kept | None:
        if not _ID.fullmatch(id_):
            return None
        try:
            return self._file.validate_json(self._store.read_bytes(_name(id_)))
        except (FileNotFoundError, ValidationError):  # another version of this program may have written it
            return None


def _listed(id_: str, kept: _Kept) -> tuple[KeptEntry, str]:
    summary = kept.summary
    texts = [one.text for one in summary.sentences]
    names = [f"{one.name} {one.title or ''}" for one in summary.sources]
    entry = KeptEntry(
        id_, summary.title, summary.made, summary.system, len(summary.sources), "".join(texts[:1]), kept.asked_of
    )
    return entry, " ".join([summary.title, *texts, *names]).casefold()


def _given(source: SummarySource) -> GivenSource:
    if source.paragraphs:
        text = "\n".join(paragraph.text for paragraph in source.paragraphs)
        return GivenSource(source.name, text.encode(), "text/plain")
    if is_web_address(source.name):
        return GivenSource(source.name)
    return GivenSource(source.name, reason=source.refused)


def _name(id_: str) -> str:
    return f"{FOLDER}/{id_}.json"
