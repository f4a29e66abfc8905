"""What `wikisum serve` says when one of its processes ends, and which ports it gives them."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from flows import serve
from flows.running import serve_options
from flows.running.child_processes import free_port, start, stop
from tests.flows.command_line import commands_in_this_process

KILLED = "was killed by signal 9 (Killed)"


@pytest.mark.parametrize("port", [4300, 4200])
def test_the_page_never_gets_the_port_of_the_server(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_options, "PAGE_PORT", wanted := free_port("127.0.0.1"))
    given = wanted if port == 4300 else free_port("127.0.0.1")
    options = serve_options.options_of("127.0.0.1", given, "wikisum", {})
    assert (options.port == wanted) == (port == 4300)
    assert options.page_port != options.port
    assert options.page != options.ui


def test_a_port_that_is_given_away_is_not_given_again() -> None:
    port = free_port("127.0.0.1")
    assert free_port("127.0.0.1", port) == port
    assert free_port("127.0.0.1", port, besides=[port]) != port


@pytest.mark.parametrize("ending", ["server", "worker", "page"])
@pytest.mark.parametrize("killed", [True, False])
def test_the_process_that_ended_is_named(
    ending: str, killed: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    ends = "import os; os.kill(os.getpid(), 9)" if killed else "raise SystemExit(3)"

    @contextmanager
    def serving(*_: Any, **__: Any) -> Iterator[dict[str, "subprocess.Popen[bytes]"]]:
        stays = "import time; time.sleep(3600)"
        names = ("server", "worker", "page")
        children = {name: start([sys.executable, "-c", ends if name == ending else stays]) for name in names}
        try:
            yield children
        finally:
            for child in children.values():
                stop(child, 10)

    monkeypatch.setattr(serve, "serving", serving)
    try:
        with commands_in_this_process(monkeypatch, capfd) as run:
            done = run("serve")
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    how = KILLED if killed else "ended unexpectedly with exit code 3"
    assert done.returncode == 1
    assert f"wikisum serve stopped: the {ending} {how}; its output is above" in done.stderr
