"""How a command ends: in the order of Python's own end, and without taking apart what the system takes back."""

import atexit
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from flows.running.worker_processes import prefect_settings, start_worker

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
from flows.__main__ import main
from flows.running.ending import end
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
    done = ended("read, write = os.pipe(); os.close(read); os.dup2(write, 1); end(0)")
    assert (done.returncode, "BrokenPipeError" in done.stderr) == (120, True)


def begin(folder: Path, parent: int) -> None:
    """Begin as a worker does, with something registered before and after; its end is written to a file."""
    atexit.register((folder / "before").touch)
    start_worker(parent, prefect_settings())
    atexit.register((folder / "after").touch)

    def told(code: int) -> None:
        (folder / "end").write_text(f"{code}, {', '.join(sorted(file.name for file in folder.iterdir()))}")

    os._exit = told  # type: ignore[assignment]


def test_a_worker_ends_at_once_after_what_is_registered(tmp_path: Path) -> None:
    spawning = multiprocessing.get_context("spawn")  # as Prefect's pool
    with ProcessPoolExecutor(1, spawning, initializer=begin, initargs=(tmp_path, os.getpid())) as pool:
        assert pool.submit(int).result() == 0
    assert (tmp_path / "end").read_text() == "0, after, before"
