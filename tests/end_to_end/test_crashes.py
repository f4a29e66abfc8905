"""Commands that are killed at drawn moments, or stopped impatiently: the same command ends in the same bytes."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.end_to_end.faults import PROJECT, content, running
from tests.end_to_end.test_faults import checkpoints, same_after, untrained
from tests.patience import PATIENCE

pytestmark = [pytest.mark.integration, pytest.mark.slow]
KILLS = 6


def killed_again_and_again(start: Callable[[], "subprocess.Popen[bytes]"], random: Random, longest: float) -> int:
    """Kill a command with all its children at drawn moments, each time it is started; return how many were killed
    before one ended well, at most KILLS."""
    for kills in range(KILLS):
        process = start()
        try:
            assert process.wait(random.uniform(0.0, longest)) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)
        else:
            return kills
    return KILLS


def test_a_build_killed_at_drawn_moments_under_a_strict_umask_ends_in_the_undisturbed_bytes(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root, random = tmp_path / "data", Random(1)
    before = os.umask(0o077)
    try:
        for kill in range(KILLS):
            with running(root, tiny_environment, tmp_path / f"log-{kill}", "--engine.kind=threads") as going:
                going.until_said("computing")
                time.sleep(random.uniform(0.0, 15.0))  # the end of the block kills it
                print(f"killed after {[line for line in going.said().splitlines() if line][-1]}")
        same_after(root, tiny_environment, tmp_path / "again", undisturbed)
        assert {path.stat().st_mode & 0o077 for path in root.rglob("*")} == {0}
    finally:
        os.umask(before)


def test_an_export_killed_at_drawn_moments_ends_in_the_undisturbed_bytes(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    def start(to: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "flows", "export", "--root", str(undisturbed), "--to", str(tmp_path / to)]
        return subprocess.Popen(command, cwd=PROJECT, env=tiny_environment, start_new_session=True)

    def exported(to: str) -> dict[str, str]:
        files = [path for path in (tmp_path / to).rglob("*") if path.is_file()]
        return {str(path.relative_to(tmp_path / to)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    started = time.monotonic()
    assert start("whole").wait(PATIENCE) == 0
    kills = killed_again_and_again(lambda: start("killed"), Random(2), time.monotonic() - started)
    assert kills
    assert start("killed").wait(PATIENCE) == 0
    assert exported("killed") == exported("whole")


def test_a_second_ctrl_c_leaves_nothing_running_and_nothing_half_written(
    undisturbed: Path, tmp_path: Path, tiny_environment: dict[str, str]
) -> None:
    root = untrained(undisturbed, tmp_path / "data")
    with running(root, tiny_environment, tmp_path / "log") as going:
        going.until(lambda: checkpoints(root))
        for _ in range(2):
            if going.process.poll() is None:
                going.process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        assert going.wait() == 130
        assert "Traceback" not in going.said()
        assert going.left_behind() == []
    same_after(root, tiny_environment, tmp_path / "again", undisturbed)
    assert content(root) == content(undisturbed)
