"""What people see of a running crawl: rate, remaining time, failures by reason."""

import time
from itertools import pairwise
from pathlib import Path

import pytest
import requests
from prefect import flow
from prefect.settings import PREFECT_API_URL

from flows.running.display import ProgressLog
from tasks.fetching.progress import CrawlProgress, ProgressCount
from tests.patience import PATIENCE
from tests.tasks.fetching.loopback_server import PAGE, Gate, LoopbackServer, answer, crawl, local_journal

pytestmark = pytest.mark.integration


def test_line() -> None:
    assert str(CrawlProgress(0, 1_200)) == "0 of 1,200 URLs, 0 a second, 0.0 MB"
    progress = CrawlProgress(
        done=4_000,
        total=12_000,
        ok=3_000,
        confirmed=1_500,
        failed={"timeout": 12, "http_404": 988},
        bytes=1_234_567_890,
        pages_per_second=1.4321,
        remaining_seconds=5_586.2,
    )
    assert str(progress) == (
        "4,000 of 12,000 URLs, 1.43 a second, 1,234.6 MB, 1,500 not modified, about 1:33:06 left; "
        "failed: http_404 988, timeout 12"
    )


def test_stored_pages_count_as_confirmed_or_by_why_they_are_stale() -> None:
    seen: list[CrawlProgress] = []
    count = ProgressCount(2, 6, seen.append)
    count.add({"reason": None, "stale_reason": None, "bytes": 10, "body": b"0123456789"})
    count.add({"reason": None, "stale_reason": None, "bytes": 0, "body": None})
    count.add({"reason": None, "stale_reason": "timeout", "bytes": 0, "body": None})
    count.add({"reason": "timeout", "stale_reason": None, "bytes": 0, "body": None})
    count.tick(last=True)
    (last,) = seen
    assert (last.done, last.ok, last.confirmed, dict(last.failed), last.bytes) == (6, 3, 1, {"timeout": 2}, 10)
    assert last.share == 1.0


def test_running_crawl_says_how_far_it_is_and_what_failed(tmp_path: Path) -> None:
    seen: list[CrawlProgress] = []
    gate = Gate(first=6)  # the rest is answered only after a report from halfway
    pages = {f"/{n}": gate.before(answer() if n % 2 else answer(b"", "410 Gone")) for n in range(12)}

    def watch(report: CrawlProgress) -> None:
        seen.append(report)
        if report.done >= 2:
            gate.open()

    with LoopbackServer(pages) as server:
        crawl(
            server,
            [f"http://a.test/{n}" for n in range(12)],
            local_journal(tmp_path),
            host_delay_seconds=0.25,
            progress=watch,
        )
    live = [report for report in seen[:-1] if 2 <= report.done < 12]  # a busy machine may report before it or after
    assert live
    assert all(earlier.done <= later.done for earlier, later in pairwise(seen))
    assert all(report.pages_per_second > 0 and report.remaining_seconds > 0 for report in live)
    assert all(report.ok + report.failed["http_410"] == report.done for report in live)
    assert all("; failed: http_410 " in str(report) for report in live)
    assert (seen[-1].done, seen[-1].ok, dict(seen[-1].failed)) == (12, 6, {"http_410": 6})


def test_rate_is_that_of_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl that has come down to one slow host must not promise the rate of its first minute."""
    clock = [0.0]
    seen: list[CrawlProgress] = []
    row = {"reason": None, "stale_reason": None, "bytes": 1, "body": b"x"}
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    count = ProgressCount(0, 2_000, seen.append)
    for second in range(1, 101):
        clock[0] = float(second)
        for _ in range(50 if second <= 20 else 1):
            count.add(row)
        count.tick()
    assert seen[19].pages_per_second == 50.0
    assert seen[-1].pages_per_second == 1.0
    assert seen[-1].remaining_seconds == 2_000 - 1_000 - 80


def test_crawl_in_a_flow_shows_a_progress_artifact(tmp_path: Path, prefect_server: None) -> None:
    @flow
    def crawling() -> None:
        with LoopbackServer({"/1": answer(), "/2": answer(b"", "404 Gone")}) as server:
            urls = [f"http://a.test/{n}" for n in (1, 2)]
            crawl(server, urls, local_journal(tmp_path), progress=ProgressLog("pages"))

    crawling()
    shown = requests.get(f"{PREFECT_API_URL.value()}/artifacts/progress-pages/latest", timeout=PATIENCE).json()
    assert shown["data"] == 100.0
    assert shown["description"].startswith("2 of 2 URLs, ")
    assert shown["description"].endswith("; failed: http_404 1")
    assert f"{len(PAGE) / 1e6:,.1f} MB" in shown["description"]
