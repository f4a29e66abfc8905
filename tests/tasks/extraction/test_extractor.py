import multiprocessing
import os
import signal
import threading

import pytest

from tasks.extraction.extractor import Extractor
from tasks.extraction.settings import ExtractSettings
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration

TEXT = "The river rises on the moors, where rain falls on two days of every three, and runs east for forty miles."
PAGE = f"<html><body><p>{TEXT}</p></body></html>".encode()
SLOW = b"<html><body><p " + b" ".join(b"a%d=x" % i for i in range(100_000)) + b">text</p></body></html>"
HUGE = b"<html><body>" + b"<b>x</b>" * 2_000_000


@pytest.fixture(scope="module")
def extractor():
    with Extractor(ExtractSettings(), memory_mib=768, cpu_seconds=2.0) as extractor:
        yield extractor


def ask(extractor: Extractor, body: bytes) -> tuple[tuple[str, ...], str | None]:
    found = extractor.extract(body, mime="text/html", charset=None)
    return found.paragraphs, found.reason


def process_of(extractor: Extractor) -> int:
    """Return the id of the extracting process."""
    assert extractor._process is not None
    return extractor._process.pid


@pytest.mark.parametrize(
    "html",
    [
        b"<table><tr><td>" * 10_000 + b"deep" + b"</td></tr></table>" * 10_000,
        b"<div>" * 10_000 + b"deep" + b"</div>" * 10_000,
        b"\0" * 1000,
        b"<p>" + b"\xff\xfe\0" * 1000,
        "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
        .join(('<?xml version="1.0"?><!DOCTYPE html [<!ENTITY e0 "ha">', "]><html><body><p>&e11;</p>"))
        .encode(),
        b"<![CDATA[" * 10_000,
        b"<!--" * 100_000,
        b"&#x110000;&#0;&#xD800;" * 100,
    ],
    ids=["tables", "divs", "zeros", "not text", "entities", "cdata", "comments", "references"],
)
def test_hostile_page_harms_only_itself(extractor, html):
    paragraphs, reason = ask(extractor, html + PAGE)
    assert (reason is None) == bool(paragraphs)
    assert sum(map(len, paragraphs)) <= len(html + PAGE)
    assert ask(extractor, PAGE) == ((TEXT,), None)


def test_line_of_two_megabytes(extractor):
    line = "The river rises on the moors. " * 70_000
    paragraphs, reason = ask(extractor, f"<p>{line}</p>".encode())
    assert (paragraphs, reason) in [((line.strip(),), None), ((), "extraction_timeout")]
    assert ask(extractor, PAGE) == ((TEXT,), None)


def test_page_that_takes_too_long_is_ended(extractor):
    assert ask(extractor, SLOW) == ((), "extraction_timeout")
    assert ask(extractor, PAGE) == ((TEXT,), None)


def test_page_that_takes_too_much_memory_is_ended():
    # A busy machine needs more than two seconds.
    with Extractor(ExtractSettings(), memory_mib=768, cpu_seconds=60.0) as extractor:
        assert ask(extractor, HUGE) == ((), "extraction_memory")
        assert ask(extractor, PAGE) == ((TEXT,), None)


def test_process_that_died_between_pages_is_replaced(extractor):
    ask(extractor, PAGE)
    os.kill(process_of(extractor), signal.SIGSEGV)
    assert ask(extractor, PAGE) == ((TEXT,), None)


@pytest.mark.parametrize("page", [PAGE, PAGE + b" " * 2_000_000])
def test_process_that_hangs_without_computing_is_ended(monkeypatch, page):
    with Extractor(ExtractSettings()) as extractor:
        ask(extractor, PAGE)
        monkeypatch.setattr("tasks.extraction.extractor._WALL", 0.1)
        os.kill(process_of(extractor), signal.SIGSTOP)
        assert ask(extractor, page) == ((), "extraction_timeout")
        monkeypatch.undo()
        assert ask(extractor, PAGE) == ((TEXT,), None)


def test_process_that_stops_within_its_answer_is_ended(monkeypatch):
    with Extractor(ExtractSettings()) as extractor:
        ask(extractor, PAGE)
        monkeypatch.setattr("tasks.extraction.extractor._WALL", 0.1)
        poll = extractor._pipe.poll

        def stops(seconds):
            begun = poll(10)  # an answer that the pipe does not hold has begun
            os.kill(process_of(extractor), signal.SIGSTOP)
            os.waitpid(process_of(extractor), os.WUNTRACED)  # until then it may go on writing while it is read
            return begun

        extractor._pipe.poll = stops
        long = b"A sentence of a text that is as long as a book.\n\n" * 20_000
        assert extractor.extract(long, mime="text/plain", charset=None).reason == "extraction_timeout"
        monkeypatch.undo()
        assert ask(extractor, PAGE) == ((TEXT,), None)


def test_process_is_replaced_after_so_many_pages():
    with Extractor(ExtractSettings(), pages_per_process=2) as extractor:
        seen = []
        for _ in range(3):
            assert ask(extractor, PAGE) == ((TEXT,), None)
            seen.append(process_of(extractor))
    assert seen[0] == seen[1] != seen[2]


def test_process_is_gone_after_close():
    with Extractor(ExtractSettings()) as extractor:
        ask(extractor, PAGE)
        process = process_of(extractor)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_process_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    with Extractor(ExtractSettings()) as extractor, pytest.raises(RuntimeError, match="ended with 1 while starting"):
        ask(extractor, PAGE)


def _extract_in_daemon(results: "multiprocessing.queues.Queue[object]") -> None:
    with Extractor(ExtractSettings()) as extractor:
        results.put(ask(extractor, PAGE))


def test_works_in_a_daemonic_process_and_in_threads():
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    process = spawn.Process(target=_extract_in_daemon, args=(results,), daemon=True)
    process.start()
    threads = [threading.Thread(target=_extract_in_daemon, args=(results,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert [results.get(timeout=PATIENCE) for _ in range(3)] == [((TEXT,), None)] * 3
    for thread in threads:
        thread.join()
    process.join()
