"""Several builds may start at the same time in a Prefect home that no server has used yet."""

import fcntl
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from flows.running.temporary_server import alone
from tests.patience import PATIENCE, output_of

PROJECT = Path(__file__).parents[3]
ASK = (
    "import os, requests; from flows.running.temporary_server import use_prefect_api; use_prefect_api()\n"
    "print('answered', requests.post(os.environ['PREFECT_API_URL'] + '/flows/', json={'name': 'one'}).status_code)"
)


def test_one_server_starts_at_a_time_in_a_home(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"

    def free() -> bool:
        with next(home.iterdir()).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    with alone(home):
        assert not free()
    assert free()
    with pytest.raises(RuntimeError, match="the server did not start"), alone(home):
        raise RuntimeError("the server did not start")
    assert free()


@pytest.mark.integration
def test_a_port_that_another_process_takes_is_given_up_for_another(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = f"ports = iter([{taken.getsockname()[1]}, server.free_port('127.0.0.1')])"
        code = (
            f"from flows.running import temporary_server as server; {ports}; server.free_port = lambda _: next(ports)\n"
        )
        environment = {**os.environ, "PREFECT_HOME": str(tmp_path), "PREFECT_API_URL": ""}
        asked = subprocess.run(
            [sys.executable, "-c", f"{code}\n{ASK}"],
            cwd=PROJECT, env=environment, text=True, capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    assert asked.stdout.startswith("answered 20"), asked.stderr


@pytest.mark.slow
@pytest.mark.integration
def test_servers_that_start_at_once_in_a_new_home_all_answer(tmp_path: Path) -> None:
    environment = {**os.environ, "PREFECT_HOME": str(tmp_path), "PREFECT_API_URL": ""}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", ASK],
            cwd=PROJECT,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    outputs = [output_of(process) for process in started]
    assert [said.startswith("answered 20") for said, _ in outputs] == [True] * 3, outputs
