"""What happens to a test that hangs: it fails, says what it waited for, and the others run."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import patience

pytestmark = pytest.mark.integration

PROJECT = Path(__file__).parents[1]
HANGING = "import threading\n\n\ndef test_hangs():\n    threading.Event().wait()\n\n\ndef test_after():\n    pass\n"


def test_a_test_that_hangs_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    call = [sys.executable, "-m", "pytest", "-c", str(PROJECT / "pyproject.toml"), "-o", "timeout=3", str(tmp_path)]
    done = subprocess.run(call, cwd=PROJECT, capture_output=True, text=True, timeout=patience.PATIENCE, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "threading.Event().wait()" in done.stdout


def test_a_sign_that_never_comes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.waiting.PATIENCE", 0.1)
    with pytest.raises(TimeoutError, match="for rain; said so far:\nsunny"):
        patience.wait_until(lambda: False, "rain", lambda: "sunny")


def test_a_process_that_hangs_is_killed_with_its_children_and_what_it_said_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = ["sh", "-c", "echo begun; sleep 999 & wait"]  # which says so before a Python would have started
    with subprocess.Popen(program, text=True, stdout=subprocess.PIPE, start_new_session=True) as process:
        monkeypatch.setattr(patience, "PATIENCE", 3.0)
        with pytest.raises(pytest.fail.Exception, match="it had said:\nbegun"):
            patience.output_of(process)
    assert process.returncode == -9
