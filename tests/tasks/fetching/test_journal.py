"""What a killed crawl leaves behind, and that it never asks twice."""

import hashlib
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.schemas import PAGES
from tasks.fetching.journal import Journal, Place, Places
from tasks.fetching.visit import refused_row
from tests.patience import PATIENCE
from tests.tasks.fetching.loopback_server import PAGE, Gate, LoopbackServer, answer, crawl, local_journal

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parents[3]


def row(number: int, body: bytes | None = None) -> dict[str, Any]:
    made = refused_row(f"http://a.test/{number}", "http_404" if body is None else None)
    if body is not None:
        made.update(body=body, sha256=hashlib.sha256(body).hexdigest(), bytes=len(body))
    return made


def urls(journal: Journal, count: int) -> list[str]:
    return [f"http://a.test/{n}" for n in range(count) if f"http://a.test/{n}" in journal]


def test_rows_are_there_without_closing(tmp_path: Path) -> None:
    journal = local_journal(tmp_path)
    assert list(tmp_path.iterdir()) == []  # nothing before the first row
    for number in range(3):
        journal.append(row(number, b"<p>%d</p>" % number))
    again = local_journal(tmp_path)
    assert (len(again), again.bytes) == (3, 24)
    table = pa.Table.from_batches(again.batches(urls(again, 3)))
    assert table.schema.equals(PAGES.schema)
    assert table.column("body").to_pylist() == [b"<p>0</p>", b"<p>1</p>", b"<p>2</p>"]


def test_order_and_rows_from_elsewhere(tmp_path: Path) -> None:
    journal = local_journal(tmp_path)
    for number in (2, 0):
        journal.append(row(number))
    wanted = [f"http://a.test/{n}" for n in (0, 1, 2)]
    batches = list(journal.batches(wanted, {wanted[1]: row(1, b"late")}.get))
    assert [url for batch in batches for url in batch.column("url").to_pylist()] == wanted


@pytest.mark.parametrize("cut", [1, 7, 100, 150])
def test_torn_segment_keeps_the_rows_before_the_tear(tmp_path: Path, cut: int) -> None:
    journal = local_journal(tmp_path)
    for number in range(5):
        journal.append(row(number, os.urandom(500)))
    (segment,) = (tmp_path / "journal").iterdir()
    os.truncate(segment, segment.stat().st_size - cut)
    again = local_journal(tmp_path)
    assert urls(again, 5) == [f"http://a.test/{n}" for n in range(4)]
    again.append(row(4))
    assert len(local_journal(tmp_path)) == 5


def test_damaged_body_is_left_out(tmp_path: Path) -> None:
    journal = local_journal(tmp_path)
    bodies = [os.urandom(5000) for _ in range(3)]
    for number, body in enumerate(bodies):
        journal.append(row(number, body))
    journal.close()
    (segment,) = (tmp_path / "journal").iterdir()
    data = bytearray(segment.read_bytes())
    data[data.find(bodies[1]) + 2500] ^= 1
    segment.write_bytes(data)
    assert urls(local_journal(tmp_path), 3) == ["http://a.test/0", "http://a.test/2"]


@pytest.mark.parametrize("content", [b"", b"noise", bytes(1000), b"\xff" * 1000])
def test_foreign_or_empty_segment_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "journal"
    folder.mkdir()
    (folder / "0.arrows").write_bytes(content)
    journal = local_journal(tmp_path)
    journal.append(row(0))
    assert len(local_journal(tmp_path)) == 1


def test_segments_are_closed_after_some_rows(tmp_path: Path) -> None:
    journal = Journal(pafs.LocalFileSystem(), str(tmp_path / "journal"), rows=2)
    for number in range(5):
        journal.append(row(number))
    assert len(list((tmp_path / "journal").iterdir())) == 3


def test_batches_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.fetching.journal.BATCH_BYTES", 2500)
    monkeypatch.setattr("tasks.fetching.journal.ROW_COST", 0)
    journal = local_journal(tmp_path)
    for number in range(5):
        journal.append(row(number, bytes(1000)))
    sizes = [batch.num_rows for batch in journal.batches(urls(journal, 5))]
    assert sizes == [3, 2]  # each some 1,150 bytes; a batch ends with the row that fills it


def test_rows_without_a_body_count_what_they_hold_while_they_are_gathered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.fetching.journal.BATCH_BYTES", 30_000)
    journal = local_journal(tmp_path)
    for number in range(7):
        journal.append(row(number))
    assert [batch.num_rows for batch in journal.batches(urls(journal, 7))] == [3, 3, 1]


def small_segments(folder: Path, count: int) -> Journal:
    """A journal that closed a segment after every row."""
    journal = Journal(pafs.LocalFileSystem(), str(folder / "journal"), seconds=1e-9)
    for number in range(count):
        journal.append(row(number, b"<p>%d</p>" % number if number % 2 else None))
    return journal


def contents(journal: Journal, count: int) -> list[dict[str, Any]]:
    return [each for batch in journal.batches(urls(journal, count)) for each in batch.to_pylist()]


def test_few_segments_are_open_at_a_time(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(list(Path("/proc/self/fd").iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 100, hard))
    try:
        journal = small_segments(tmp_path, 400)
        assert len(list((tmp_path / "journal").iterdir())) == 400
        expected = [row(n, b"<p>%d</p>" % n if n % 2 else None) for n in range(400)]
        assert contents(journal, 400) == expected
        again = Journal(pafs.LocalFileSystem(), str(tmp_path / "journal"))
        assert contents(again, 400) == expected
        assert (again.asked, again.bytes) == (journal.asked, journal.bytes)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_segments_are_closed_the_seldomer_the_more_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("tasks.fetching.journal.time.monotonic", lambda: now)
    journal = Journal(pafs.LocalFileSystem(), str(tmp_path / "journal"))
    counts = []
    for minute in range(1_000):  # a page a minute
        now = 60.0 * minute
        journal.append(row(minute))
        counts.append(len(list((tmp_path / "journal").iterdir())))
    assert counts[:3] == [1, 1, 2]  # two pages a segment
    assert counts[500] - counts[400] < 50
    assert counts[-1] < 400
    assert len(contents(local_journal(tmp_path), 1_000)) == 1_000


def test_newest_row_of_a_url_counts_and_one_that_was_forgotten_is_asked_again(tmp_path: Path) -> None:
    confirmed = {**row(7, b"old"), "body": None}  # an earlier crawl's body
    journal = Journal(pafs.LocalFileSystem(), str(tmp_path / "journal"), seconds=1e-9)
    journal.append(confirmed)
    journal.forget(confirmed["url"])
    assert (confirmed["url"] in journal, len(journal), journal.asked, journal.bodiless) == (False, 0, 0, {})
    for number in range(3):
        journal.append({**row(8), "attempts": number})
    again = local_journal(tmp_path)
    for each in (journal, again):
        assert next(each.batches(["http://a.test/8"]))["attempts"].to_pylist() == [2]
    assert (len(journal), journal.asked) == (1, 1)
    assert (len(again), again.asked) == (2, 2)  # what was forgotten is back


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 1 << 20), st.integers(0, 1 << 39)), max_size=200))
def test_places_are_a_dictionary(puts: list[tuple[int, int, int]]) -> None:
    places, expected = Places(), dict[str, Place]()
    for number, segment, offset in puts:
        url = f"http://a.test/{number}"
        if number % 3 == 0 and url in expected:
            places.forget(url)
            del expected[url]
        else:
            assert places.put(url, Place(segment, offset)) == (url not in expected)
            expected[url] = Place(segment, offset)
        assert len(places) == len(expected)
    assert {f"http://a.test/{n}": places.get(f"http://a.test/{n}") for n in range(41)} == {
        f"http://a.test/{n}": expected.get(f"http://a.test/{n}") for n in range(41)
    }


def test_places_grow() -> None:
    places = Places()
    for number in range(5000):
        places.put(f"http://a.test/{number}", Place(number % 7, number))
        if number % 2:
            places.forget(f"http://a.test/{number}")
    assert len(places) == 2500
    for number in range(5000):
        assert places.get(f"http://a.test/{number}") == (None if number % 2 else Place(number % 7, number))


CRAWL = """
import sys
from tests.tasks.fetching.loopback_server import LoopbackServer, crawl, local_journal
class Server:
    address = sys.argv[1]
urls = [f"http://h{n % 4}.test/{n}" for n in range(60)]
crawl(Server, urls, local_journal(sys.argv[2]), host_delay_seconds=0.1)
"""


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_crawl_resumes_without_asking_again(tmp_path: Path, stop: signal.Signals) -> None:
    gate = Gate(20)
    pages = {f"/{n}": gate.before(answer(b"<html>%d</html>" % n)) for n in range(60)}
    wanted = [f"http://h{n % 4}.test/{n}" for n in range(60)]
    with LoopbackServer(dict(pages)) as server:
        crawler = subprocess.Popen(
            [sys.executable, "-c", CRAWL, server.address, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        while len(server.paths()) < 20 and crawler.poll() is None:
            time.sleep(0.01)
        crawler.send_signal(stop)
        gate.open()
        assert crawler.wait(PATIENCE) != 0
        before = list(server.paths())
        assert len(before) < 60
        journal = local_journal(tmp_path)
        done = {url.rpartition("/")[2] for url in wanted if url in journal}
        assert len(done) >= len(before) - 4  # all but what was under way, at most one a host
        rows = crawl(server, wanted, journal)
        after = server.paths()[len(before) :]
    assert sorted(rows) == sorted(wanted)
    assert all(rows[url]["body"] == b"<html>%s</html>" % url.rpartition("/")[2].encode() for url in wanted)
    assert not done & {path[1:] for path in after}
    assert {path[1:] for path in after} == {str(n) for n in range(60)} - done
    # The server may log what was under way, at most one a host, only after the crawl has been stopped.
    assert 60 - len(done) <= len(after) <= 60 - len(done) + 4


def test_finished_crawl_asks_nobody(tmp_path: Path) -> None:
    with LoopbackServer({"/a": answer()}) as server:
        wanted = ["http://site.test/a", "http://site.test/missing"]
        first = crawl(server, wanted, local_journal(tmp_path))
        server.log.clear()
        second = crawl(server, wanted, local_journal(tmp_path))
        assert server.log == []
    assert first == second
    assert first["http://site.test/a"]["body"] == PAGE
