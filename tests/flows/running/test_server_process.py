"""The temporary server ends with the process that started it, also where that is gone before anything is imported."""

import socket
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[3]


def test_a_server_whose_parent_is_gone_ends_before_it_serves() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait(PATIENCE)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        number = listening.fileno()
        command = [sys.executable, "-m", "flows.running.prefect_server", str(number), str(gone.pid), "temporary"]
        server = subprocess.Popen(command, cwd=PROJECT, pass_fds=[number])
    try:
        assert server.wait(PATIENCE) == 1
    finally:
        server.kill()


def test_nothing_heavy_is_imported_before_the_parent_is_watched() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import flows.running.prefect_server, sys; print(*sorted(sys.modules))"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout.split()
    assert not {"prefect", "uvicorn", "pydantic", "pyarrow", "torch"} & set(loaded)
