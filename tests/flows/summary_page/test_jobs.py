import threading

import pytest

from flows.summary_page.jobs import Jobs, SummaryJob, TooBusyError
from tasks.cited_summary.cited import CitedSummary
from tasks.cited_summary.pipeline import Report, SourcePage
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource, file_source
from tasks.engine.progress import Progress
from tests.patience import wait_until

SETTINGS = SummarySettings()
GIVEN = [file_source("a.txt", b"The tower was built in 1847.")]


def done(job: SummaryJob) -> bool:
    return job.ended


class Gate:
    """Work that waits until it is let through."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.titles: list[str] = []

    def __call__(self, job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        self.titles.append(job.title)
        report(Progress("writing", 0.8))
        self.open.wait(60)
        return CitedSummary(job.title, "concepts", "", [], [], []), {1: SourcePage("text/plain", None, b"0123456789")}


def test_two_at_once_and_the_others_know_how_many_come_before():
    gate = Gate()
    with Jobs(gate, 2) as jobs:
        first, second, third, fourth = (jobs.submit(str(number), GIVEN, "suitable", SETTINGS) for number in range(4))
        wait_until(lambda: len(gate.titles) == 2, "two summaries in work")
        assert (first.state, second.state, third.state, fourth.state) == ("working", "working", "waiting", "waiting")
        assert (jobs.place(third), jobs.place(fourth)) == (2, 3)
        assert first.progress == Progress("writing", 0.8)
        gate.open.set()
        wait_until(lambda: done(fourth), "the last summary")
    assert gate.titles == ["0", "1", "2", "3"]
    assert fourth.summary is not None
    assert fourth.bytes == 10


def test_what_was_read_is_kept_once_for_writing_again():
    page = SourcePage("text/html", "latin-1", b"<p>The tower")

    def work(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        return CitedSummary(job.title, "concepts", "", [], [], []), {1: page}

    refused = GivenSource("old.txt", reason="the file is empty")
    with Jobs(work, 1) as jobs:
        first = jobs.submit(
            "first", [GivenSource("http://a.test/"), refused, GivenSource("http://gone.test/")], "suitable", SETTINGS
        )
        wait_until(lambda: done(first), "the summary")
    read, *others = first.given
    assert read == GivenSource("http://a.test/", page.body, "text/html", "latin-1")
    assert read.body is page.body
    assert others == [refused, GivenSource("http://gone.test/")]
    assert first.bytes == len(page.body)


def test_an_error_fails_its_own_summary_alone():
    def work(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        if job.title == "bad":
            raise ValueError("the title is bad: expected another")
        if job.title == "broken":
            raise KeyError("secret detail")
        return CitedSummary(job.title, "concepts", "", [], [], []), {}

    with Jobs(work, 1) as jobs:
        bad, broken, good = (jobs.submit(title, GIVEN, "suitable", SETTINGS) for title in ("bad", "broken", "good"))
        wait_until(lambda: done(good), "the good summary")
    assert (bad.state, bad.error) == ("failed", "the title is bad: expected another")
    assert (broken.state, broken.error) == ("failed", "an error of this program (KeyError); its log has the details")
    assert good.state == "done"


def test_a_full_queue_refuses_and_says_so():
    gate = Gate()
    with Jobs(gate, 1, waiting=1) as jobs:
        jobs.submit("working", GIVEN, "suitable", SETTINGS)
        wait_until(lambda: gate.titles, "work")
        jobs.submit("waiting", GIVEN, "suitable", SETTINGS)
        with pytest.raises(TooBusyError, match="1 summaries are waiting already"):
            jobs.submit("refused", GIVEN, "suitable", SETTINGS)
        gate.open.set()


@pytest.mark.parametrize("limit", [{"kept": 2}, {"kept_bytes": 20}])
def test_the_oldest_summaries_are_forgotten_and_the_last_never(limit: dict[str, int]):
    gate = Gate()
    gate.open.set()
    with Jobs(gate, 1, **limit) as jobs:
        made = []
        for number in range(4):
            made.append(jobs.submit(str(number), GIVEN, "suitable", SETTINGS))
            wait_until(lambda: done(made[-1]), "a summary")
        wait_until(lambda: jobs.get(made[1].id) is None, "the second one to be forgotten")
        assert [jobs.get(job.id) is not None for job in made] == [False, False, True, True]


def test_ids_cannot_be_guessed_and_unknown_ones_are_none():
    gate = Gate()
    gate.open.set()
    with Jobs(gate, 1) as jobs:
        ids = {jobs.submit("x", GIVEN, "suitable", SETTINGS).id for _ in range(5)}
        assert len(ids) == 5
        assert min(map(len, ids)) >= 20
        assert jobs.get("x") is None


def test_a_waiting_summary_that_is_cancelled_is_never_begun():
    gate = Gate()
    with Jobs(gate, 1) as jobs:
        first, second, third = (
            jobs.submit(title, GIVEN, "suitable", SETTINGS) for title in ("first", "second", "third")
        )
        wait_until(lambda: gate.titles, "work")
        jobs.cancel(second)
        assert (second.state, second.given, jobs.place(third)) == ("cancelled", (), 1)
        gate.open.set()
        wait_until(lambda: done(third), "the third summary")
    assert gate.titles == ["first", "third"]
    assert (first.state, second.state) == ("done", "cancelled")


def test_a_cancelled_summary_ends_at_its_next_report_and_frees_its_place():
    begun, ended = [], []

    def work(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        begun.append(job.title)
        try:
            wait_until(lambda: report(Progress("writing", 0.8)) or job.title == "second", "to be cancelled")
        finally:
            ended.append(job.title)
        return CitedSummary(job.title, "concepts", "", [], [], []), {}

    with Jobs(work, 1) as jobs:
        first = jobs.submit("first", GIVEN, "suitable", SETTINGS)
        wait_until(lambda: begun, "work")
        jobs.cancel(first)
        second = jobs.submit("second", GIVEN, "suitable", SETTINGS)
        wait_until(lambda: done(second), "the second summary")
        assert (first.state, first.summary, first.bytes) == ("cancelled", None, 0)
        assert second.state == "done"
        jobs.cancel(second)
        assert (second.state, second.summary is None) == ("done", False)
    assert ended == ["first", "second"]


def test_the_end_of_the_queue_cancels_and_waits():
    gate = Gate()
    reported = []

    def work(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        reported.append(job.title)
        wait_until(lambda: report(Progress("writing", 0.8)), "to be cancelled")
        return gate(job, report)

    with Jobs(work, 1) as jobs:
        working, waiting = (
            jobs.submit("working", GIVEN, "suitable", SETTINGS),
            jobs.submit("waiting", GIVEN, "suitable", SETTINGS),
        )
        wait_until(lambda: reported, "work")
    assert (working.state, waiting.state, gate.titles) == ("cancelled", "cancelled", [])


def test_a_system_that_fails_gives_way_to_the_extractive_one_and_says_so():
    def work(job: SummaryJob, report: Report) -> tuple[CitedSummary, dict[int, SourcePage]]:
        if job.choice != "extractive":
            raise ValueError("the model is gone")
        return CitedSummary("suggested", "concepts", "", [], [], [], ["another note"]), {}

    kept = []
    with Jobs(work, 1, keep=kept.append) as jobs:
        job = jobs.submit("", GIVEN, "version 2", SETTINGS)
        wait_until(lambda: done(job), "the summary")
    assert (job.state, job.choice, job.title, kept) == ("done", "version 2", "suggested", [job])
    first, second = job.summary.notes
    assert first.startswith("The system that was asked for gave no summary (the model is gone), so whole sentences")
    assert second == "another note"
