"""What a job does on SIGTERM."""

import os
import signal
import threading

from tasks.engine.closing import on_sigterm


def test_the_signal_is_handled_inside_the_block_alone() -> None:
    calls: list[str] = []

    with on_sigterm(lambda: calls.append("stopped")):
        os.kill(os.getpid(), signal.SIGTERM)

    assert calls == ["stopped"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_that_is_there_stays() -> None:
    outer: list[str] = []
    inner: list[str] = []

    with on_sigterm(lambda: outer.append("stopped")), on_sigterm(lambda: inner.append("stopped")):
        os.kill(os.getpid(), signal.SIGTERM)

    assert (outer, inner) == (["stopped"], [])


def test_nothing_changes_in_another_thread() -> None:
    found = []

    def job() -> None:
        with on_sigterm(lambda: None):
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=job)
    thread.start()
    thread.join()

    assert found == [signal.SIG_DFL]
