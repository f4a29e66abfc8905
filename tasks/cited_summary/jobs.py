"""Summaries that people wait for: at most some at once, the others in order of arrival, the last ones kept."""

import logging
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.pipeline import Report, SourcePage, SummaryProgress
from tasks.cited_summary.settings import Choice
from tasks.cited_summary.sources import GivenSource
from tasks.engine.closing import Closing

logger = logging.getLogger(__name__)


@dataclass
class SummaryJob:
    """One request and, once it is done, its summary."""

    id: str  # unguessable: whoever knows it may read the summary
    title: str  # of the summary
    given: Sequence[GivenSource]  # its sources; once it is done, with what was fetched of them
    choice: Choice  # which system is to write
    # waiting | working | done | failed | cancelled
    state: Literal["waiting", "working", "done", "failed", "cancelled"] = "waiting"
    progress: SummaryProgress = field(default_factory=lambda: SummaryProgress("waiting", 0.0))  # what is being done
    error: str = ""  # why it failed, for people
    summary: CitedSummary | None = None  # the result
    pages: Mapping[int, SourcePage] = field(default_factory=dict)  # the sources as fetched, by number
    # set once nobody wants it any more; its work then ends at its next report
    cancelling: threading.Event = field(default_factory=threading.Event)

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
    """Raised by the report of a summary that nobody wants any more, so that its work ends there."""


class Jobs(Closing):
    """The queue; usable from many threads."""

    def __init__(
        self, work: Work, at_once: int, *, waiting: int = 50, kept: int = 200, kept_bytes: int = 1 << 30
    ) -> None:
        """Start the workers.

        Args:
            work: makes a summary; what its report raises has to end it, so it reports often.
            at_once: summaries made at the same time.
            waiting: requests that may wait for their turn; a further one is refused.
            kept: ended requests that are remembered; the oldest are forgotten first, the last one never.
            kept_bytes: the most that their sources may take together, or the oldest are forgotten too."""
        self._work = work
        self._most_waiting, self._kept, self._kept_bytes = waiting, kept, kept_bytes
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="summary")
        self._jobs: OrderedDict[str, SummaryJob] = OrderedDict()  # oldest first
        self._lock = threading.Lock()

    def submit(self, title: str, given: Sequence[GivenSource], choice: Choice) -> SummaryJob:
        """Add a request at the end of the queue. Raises TooBusyError: the queue is full."""
        job = SummaryJob(secrets.token_urlsafe(16), title, given, choice)
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

        def report(now: SummaryProgress) -> None:
            if job.cancelling.is_set():
                raise CancelledError
            job.progress = now

        try:
            job.summary, job.pages = self._work(job, report)
            job.given = [_as_read(source, job.pages.get(number)) for number, source in enumerate(job.given, 1)]
            job.state = "done"
        except CancelledError:
            job.state = "cancelled"
        except ValueError as error:
            job.error, job.state = str(error), "failed"
        except Exception as error:  # one request must not end the worker that makes the others
            logger.exception("a summary failed")
            job.error, job.state = (
                f"an error of this program ({type(error).__name__}); its log has the details",
                "failed",
            )
        if job.state != "done":
            job.given = ()
        self._forget_old()

    def _forget_old(self) -> None:
        with self._lock:
            ended = [job for job in self._jobs.values() if job.ended]
            total = sum(job.bytes for job in ended)
            for job in ended[:-1]:
                if len(ended) <= self._kept and total <= self._kept_bytes:
                    return
                total -= job.bytes
                ended = ended[1:]
                del self._jobs[job.id]


def _as_read(source: GivenSource, page: SourcePage | None) -> GivenSource:
    """Return a source with what was read of it, in the same memory, so that writing again fetches nothing twice."""
    if page is None:
        return source
    return replace(source, body=page.body, mime=page.mime, charset=page.charset)
