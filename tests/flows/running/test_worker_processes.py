"""A run whose output has lost its reader ends as SIGTERM ends it, whichever thread wrote."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[3]
RUN = """
import signal, sys, threading
from rich.console import Console
from flows.running.worker_processes import end_when_output_is_lost
from tests.patience import PATIENCE

told = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: told.set())
end_when_output_is_lost()
sys.stdin.read()  # until the reader of the output is gone
wrote = []

def write():
    Console(stderr=True).print("a line of the log")
    wrote.append(1)
    Console(stderr=True).print("another one")
    wrote.append(2)

writer = threading.Thread(target=write)
writer.start()
writer.join()
sys.exit(0 if told.wait(PATIENCE) and wrote == [1, 2] else 7)
"""


@pytest.mark.integration
def test_a_lost_reader_ends_the_run_and_no_thread() -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    with run:
        assert run.stderr is not None
        assert run.stdin is not None
        run.stderr.close()
        run.stdin.close()
        assert run.wait(PATIENCE) == 0
