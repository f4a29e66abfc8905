"""The temporary server ends with the process that started it, also where that is gone before anything is imported."""

import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[3]


def test_a_server_whose_parent_is_gone_ends_before_it_serves() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(PATIENCE)
    server = subprocess.Popen([sys.executable, "-m", "flows.running.server_process", "1", str(gone.pid)], cwd=PROJECT)
    try:
        assert server.wait(PATIENCE) == 1  # not 3, with which uvicorn ends on a port that is not its own to open
    finally:
        server.kill()


def test_nothing_heavy_is_imported_before_the_parent_is_watched() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import flows.running.server_process, sys; print(*sorted(sys.modules))"],
        cwd=PROJECT, capture_output=True, text=True, check=True, timeout=PATIENCE,
    ).stdout.split()  # fmt: skip
    assert not {"prefect", "uvicorn", "pydantic", "pyarrow", "torch"} & set(loaded)
