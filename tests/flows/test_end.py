"""How a command ends: in the order of Python's own end, and without taking apart what the system takes back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration
PROJECT = Path(__file__).parents[2]
BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
# Something is registered before and after the command's own imports.
CODE = """
import atexit, os, sys, threading, time
class Held:
    def __del__(self, write=os.write): write(2, b"taken apart")
held = Held()
atexit.register(print, "first registered")
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
from flows.__main__ import _end, main
atexit.register(print, "last registered")
"""


def ended(code: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", f"{CODE}\n{code}"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        env=BUFFERED,
        check=False,
    )


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["serve", "--no-such-option"], 2)])
def test_threads_are_waited_for_then_what_is_registered_runs_and_memory_is_left(words: list[str], code: int) -> None:
    done = ended(f"sys.argv[1:] = {words}; main()")
    *_, last, first = printed = done.stdout.splitlines()
    assert (done.returncode, last, first) == (code, "last registered", "first registered")
    assert "thread" in printed
    assert "taken apart" not in done.stderr


@pytest.mark.parametrize("watch", ["settrace", "setprofile"])
def test_what_watches_a_command_sees_its_whole_end(watch: str) -> None:
    done = ended(f"sys.argv[1:] = ['--version']; sys.{watch}(lambda *_: None); main()")
    assert (done.returncode, done.stdout.splitlines()[-1], "taken apart" in done.stderr) == (
        0,
        "first registered",
        True,
    )


def test_python_tells_of_output_that_is_closed() -> None:
    """As of `wikisum prune | true`."""
    done = ended("read, write = os.pipe(); os.close(read); os.dup2(write, 1); _end(0)")
    assert (done.returncode, "BrokenPipeError" in done.stderr) == (120, True)
