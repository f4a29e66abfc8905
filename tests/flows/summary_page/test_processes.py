"""Summaries in real processes of their own: what cancelling, a death and the end of the server leave."""

import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from flows.summary_page.jobs import CancelledError, SummaryJob
from flows.summary_page.processes import Processes
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.sources import GivenSource, file_source
from tasks.engine.progress import Progress
from tests.patience import PATIENCE, wait_until
from tests.tasks.cited_summary.topic import GERMAN, HISTORY, TITLE, page_of
from tests.tasks.fetching.loopback_server import Exchange, LoopbackServer, answer

pytestmark = pytest.mark.integration
FILE = file_source("history.txt", HISTORY.encode())


@pytest.fixture(scope="module", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Theirs and this process's alone: whatever else runs on the machine has folders of the same names."""
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


@pytest.fixture(scope="module")
def processes(own_temporary_folder: None) -> Iterator[Processes]:
    with Processes(None, 1) as started:
        yield started


@pytest.fixture
def slow_page() -> Iterator[str]:
    """The address of a page that is never sent."""
    over = threading.Event()

    def never(exchange: Exchange) -> None:
        over.wait(PATIENCE)
        exchange.send(answer())

    with LoopbackServer({"/slow": never}) as web:
        yield f"http://{web.address}/slow"
        over.set()


def job(given: GivenSource) -> SummaryJob:
    return SummaryJob("id", TITLE, [given], "suitable", SummarySettings(allowed_hosts=("127.0.0.1",)))


def workers() -> list[psutil.Process]:
    return [one for one in psutil.Process().children() if "flows.summary_page.worker" in one.cmdline()]


def the_worker() -> psutil.Process:
    """The one worker, once the system shows what it runs: a process that has just been started may not say so yet."""
    wait_until(workers, "a worker to be seen")
    (worker,) = workers()
    return worker


def temporary_folders() -> set[Path]:
    """Those of single summaries; that of the turns at sites stays."""
    found = set(Path(tempfile.gettempdir()).glob("wikisum-*"))
    return {folder for folder in found if not folder.name.startswith("wikisum-turns-")}


def until(sign: Callable[[Progress], bool], act: Callable[[], None]) -> Callable[[Progress], None]:
    """A report that acts once the work is as far as the sign."""
    seen: list[Progress] = []

    def report(now: Progress) -> None:
        if sign(now) and not seen:
            seen.append(now)
            act()

    return report


def cancel() -> None:
    raise CancelledError


def test_one_process_makes_summary_after_summary(processes: Processes) -> None:
    worker = the_worker()
    reports: list[Progress] = []
    for text, sentences in ((HISTORY, 2), (page_of(GERMAN), 0)):
        summary, pages = processes(job(file_source("a.html", text.encode())), reports.append)
        assert (len(summary.sentences), pages[1].body) == (sentences, text.encode())
    assert "writing with concepts" in [report.text for report in reports]
    assert workers() == [worker]


def test_what_cannot_be_made_is_an_error_and_no_end(processes: Processes) -> None:
    worker = the_worker()
    with pytest.raises(ValueError, match=r"^there is no source: expected at least one web address"):
        processes(SummaryJob("id", TITLE, [], "suitable", SummarySettings()), lambda _: None)
    assert workers() == [worker]


def test_what_is_wrong_with_the_models_is_for_the_log_of_the_server(tmp_path: Path) -> None:
    why = r"^the models of the server cannot be read; its log says why$"
    with Processes(str(tmp_path), 1) as of_no_root, pytest.raises(ValueError, match=why):
        of_no_root(job(FILE), lambda _: None)


def test_cancelled_while_it_waits_for_a_site_nothing_is_left_of_it(processes: Processes, slow_page: str) -> None:
    before = temporary_folders()
    worker = the_worker()
    with pytest.raises(CancelledError):
        processes(job(GivenSource(slow_page)), until(lambda now: bool(temporary_folders() - before), cancel))
    assert not worker.is_running()
    assert temporary_folders() <= before
    summary, _ = processes(job(FILE), lambda _: None)
    assert len(summary.sentences) == 2, "its place is free"


def test_cancelled_while_it_extracts_the_extracting_process_ends_too(processes: Processes) -> None:
    large = file_source("large.html", b"<p>" + b"The tower was built in 1847 by <b>Thomas</b> Ridley. " * 300_000)
    worker = the_worker()
    started: list[psutil.Process] = []
    with pytest.raises(CancelledError):
        processes(job(large), until(lambda _: bool(started.extend(worker.children()) or started), cancel))
    wait_until(lambda: not started[0].is_running(), "the end of the extracting process")
    assert not worker.is_running()


def test_a_process_that_dies_fails_its_own_summary_alone(processes: Processes, slow_page: str) -> None:
    worker = the_worker()
    kill = until(lambda now: now.share > 0, lambda: os.kill(worker.pid, signal.SIGKILL))
    with pytest.raises(ValueError, match="the process that made it ended with -9: the machine may lack memory"):
        processes(job(GivenSource(slow_page)), kill)
    assert len(processes(job(FILE), lambda _: None)[0].sentences) == 2


def test_the_end_leaves_no_process() -> None:
    before = workers()
    with Processes(None, 2):
        wait_until(lambda: len(workers()) == len(before) + 2, "two workers to be seen")
    assert workers() == before
