"""Several builds may start at the same time in a Prefect home that no server has used yet."""

import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.running.temporary_server import alone
from storage.inventory import take_stock
from storage.store import Store
from tests.flows.command_line import Done, commands_in_this_process
from tests.patience import PATIENCE, output_of

PROJECT = Path(__file__).parents[3]
ASK = (
    "import os, requests; from flows.running.temporary_server import use_prefect_api; use_prefect_api()\n"
    "asked, auth = os.environ['PREFECT_API_URL'] + '/flows/', tuple(os.environ['PREFECT_API_AUTH_STRING'].split(':'))\n"
    "print('refused', requests.post(asked, json={'name': 'one'}).status_code, end=', ')\n"
    "evil = requests.post(asked, json={'name': 'one'}, auth=auth, headers={'Host': 'evil.example'})\n"
    "print('unknown', evil.status_code, evil.headers.get('access-control-allow-origin'), end=', ')\n"
    "print('answered', requests.post(asked, json={'name': 'one'}, auth=auth).status_code)"
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Prefect home for servers that start one after another: the first makes its database."""
    return str(tmp_path_factory.mktemp("home"))


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
def test_no_other_process_can_take_the_port_before_the_server_answers(home: str) -> None:
    code = """
import socket
from flows.running import temporary_server as server
answers = server.wait_for_api
def tries_first(url, *rest):
    port = int(url.split(":")[2].split("/")[0])
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        print("refused", end=", ")
    return answers(url, *rest)
server.wait_for_api = tries_first
"""
    environment = {**os.environ, "PREFECT_HOME": home, "PREFECT_API_URL": ""}
    asked = subprocess.run(
        [sys.executable, "-c", f"{code}\n{ASK}"],
        cwd=PROJECT,
        env=environment,
        text=True,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert asked.stdout.startswith("refused, refused 401, unknown 421 None, answered 20"), asked.stderr
    assert stat.S_IMODE((Path(home) / "prefect.db").stat().st_mode) == 0o600


@pytest.mark.integration
def test_a_server_without_pages_has_no_addresses_for_people(home: str, tmp_path: Path) -> None:
    code = """
from prefect import flow
from flows.running.temporary_server import use_prefect_api
@flow
def hello(): return 1
use_prefect_api()
hello()
"""
    environment = {**os.environ, "PREFECT_HOME": home, "PREFECT_API_URL": ""}
    del environment["PREFECT_API_URL"]
    (tmp_path / "hello.py").write_text(code)
    said = subprocess.run(
        [sys.executable, str(tmp_path / "hello.py")],
        cwd=PROJECT,
        text=True,
        capture_output=True,
        timeout=PATIENCE,
        env={**environment, "PYTHONPATH": str(PROJECT)},
        check=True,
    ).stderr
    assert "Beginning flow run" in said
    assert "http://" not in said


def _assert_named(done: Done, address: str, root: Path) -> None:
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert f"PREFECT_API_URL is {address!r}: expected a Prefect server that answers, but " in line
    assert [path.name for path in root.rglob("*") if path.is_file()] == ["root.json"]


@pytest.mark.integration
def test_a_server_that_is_gone_is_named_before_any_work(tmp_path: Path) -> None:
    """As the environment names it."""
    take_stock(Store(str(root := tmp_path / "data")))
    gone = "http://127.0.0.1:9/api"
    done = subprocess.run(
        [sys.executable, "-m", "flows", "build", "--root", str(root)],
        cwd=PROJECT,
        text=True,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PREFECT_HOME": str(tmp_path / "home"), "PREFECT_API_URL": gone},
    )
    _assert_named(Done(done.returncode, done.stdout, done.stderr), gone, root)


@pytest.mark.integration
@pytest.mark.parametrize("arguments", [("verify",), ("prune",), ("evaluate", "--dry-run")])
def test_every_command_names_a_server_that_is_gone(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    take_stock(Store(str(root := tmp_path / "data")))
    gone = "http://127.0.0.1:9/api"
    with temporary_settings({PREFECT_API_URL: gone}), commands_in_this_process(monkeypatch, capfd) as run:
        _assert_named(run(*arguments, "--root", str(root)), gone, root)


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
    assert ["answered 20" in said for said, _ in outputs] == [True] * 3, outputs
