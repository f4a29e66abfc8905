"""Summaries that people wait for: a few at the same time, the others in order of arrival."""

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

from storage.errors import StorageError
from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.editing import with_pinned
from tasks.cited_summary.pipeline import Report, SourcePage
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource
from tasks.engine.closing import Closing
from tasks.engine.progress import Progress

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
            numbered = enumerate(job.given, 1)
            job.given = [replace(item, **vars(job.pages[n])) if n in job.pages else item for n, item in numbered]
            try:
                self._keep(job)
            except StorageError:
                logger.exception("a summary is not kept on the root, and gone when the server ends")
            job.state = "done"
        except CancelledError:
            job.state, job.given = "cancelled", ()
        except ValueError as error:
            job.error, job.state = str(error), "failed"
        except Exception as error:  # one request must not end the worker that makes the others
            logger.exception("a summary failed")
            job.error = f"an error of this program ({type(error).__name__}); its log has the details"
            job.state = "failed"
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
            chosen = "so whole sentences of the sources are chosen"
            note = f"The system that was asked for gave no summary ({said}), {chosen}."
            return replace(summary, notes=[note, *summary.notes]), pages

    def _forget_old(self) -> None:
        with self._lock:
            ended = [job for job in self._jobs.values() if job.ended]
            while len(ended) > 1 and (len(ended) > self._kept or sum(job.bytes for job in ended) > self._kept_bytes):
                del self._jobs[ended.pop(0).id]
