"""Turns at a service: never two at once, spaced, over threads and processes."""

import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tasks.archives import common_crawl, wayback
from tasks.fetching.settings import CommonCrawlSettings
from tasks.fetching.turns import LONGEST_WAIT, turn
from tests.patience import PATIENCE


@pytest.fixture(autouse=True)
def own_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_processes_take_turns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = (
        "import sys, tempfile, time\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "from tasks.fetching.turns import turn\n"
        "for _ in range(4):\n"
        "    with turn('index.test', 0.2), open(sys.argv[2], 'a') as log:\n"
        "        start = time.time(); time.sleep(0.02)\n"
        "        log.write(f'{start} {time.time()}\\n'); log.flush()\n"
    )
    call = [sys.executable, "-c", code, str(tmp_path), str(log)]
    running = [subprocess.Popen(call, cwd=Path(__file__).parents[3]) for _ in range(3)]
    assert [process.wait(PATIENCE) for process in running] == [0, 0, 0]
    times = sorted(tuple(map(float, line.split())) for line in log.read_text().splitlines())
    assert len(times) == 12
    assert all(later[0] >= earlier[1] for earlier, later in pairwise(times))
    # A turn begins when its lock is taken, between the end of the one before and what it writes as its start: so two
    # turns later there has been a whole delay, however long a busy machine takes for each step.
    assert all(third[0] - first[1] > 0.199 for first, _, third in zip(times, times[1:], times[2:], strict=False))


def test_pause_keeps_the_next_turn_waiting_and_other_services_do_not() -> None:
    with turn("a.test", 0.0) as own:
        own.pause = 1.0
        paused = time.time()
    with turn("b.test", 0.0):
        other = time.time()
    with turn("a.test", 0.0):
        again = time.time()
    assert other - paused < again - paused
    assert again - paused > 0.999


def test_threads_take_turns_and_an_error_gives_the_turn_back() -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        with turn("a.test", 0.0):
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()

    with pytest.raises(ZeroDivisionError), turn("a.test", 0.0):
        raise ZeroDivisionError
    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert most == [1] * 6


@pytest.mark.parametrize("content", [b"nonsense", b"9e99", b"nan", b""])
def test_strange_time_is_no_wait(content: bytes, tmp_path: Path) -> None:
    with turn("a.test", 0.0):
        pass
    next(tmp_path.glob("wikisum-turns-*/*")).write_bytes(content)
    entered = False
    with turn("a.test", 0.0):
        entered = True
    assert entered


def test_no_delay_can_be_set_that_would_be_taken_for_a_strange_time() -> None:
    assert CommonCrawlSettings(delay_seconds=LONGEST_WAIT).delay_seconds == 900.0
    with pytest.raises(ValueError, match="less than or equal to 900"):
        CommonCrawlSettings(delay_seconds=900.5)


def test_no_pause_is_longer_than_what_would_be_taken_for_a_strange_time() -> None:
    pauses = (common_crawl.PATIENCE.max_backoff_seconds, wayback.PATIENCE.max_backoff_seconds, wayback.DELAY_SECONDS)
    assert max(pauses) <= LONGEST_WAIT
