"""`make serve` as its users meet it: on PostgreSQL, with a password where others can reach it, and stopped again."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import psutil
import pytest
import requests

from benchmarks.tiny_runs import PROJECT, TINY, nested
from flows.running.prefect_setup import ZOMBIES
from flows.running.serve_options import authentication, database_url, options_of
from tests.end_to_end.prefect_api import kept, signed_in
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import free_port

pytestmark = pytest.mark.integration

Process: TypeAlias = "subprocess.Popen[bytes]"
STARTED = "stop           Ctrl-C"


def test_a_server_always_has_a_password_the_given_one_or_that_of_the_last_time() -> None:
    fresh = options_of("127.0.0.1", 0, "wikisum", {}).auth
    assert fresh.startswith("admin:")
    assert fresh != options_of("127.0.0.1", 0, "wikisum", {}).auth
    assert options_of("127.0.0.1", 0, "wikisum", {}, kept="admin:of-last-time").auth == "admin:of-last-time"
    given = {"PREFECT_SERVER_API_AUTH_STRING": "me:long-enough"}
    assert options_of("127.0.0.1", 0, "wikisum", given, kept="admin:of-last-time").auth == "me:long-enough"
    with pytest.raises(ValueError, match="expected user:password"):
        options_of("127.0.0.1", 0, "wikisum", {"PREFECT_SERVER_API_AUTH_STRING": "me:short"})


def test_a_page_alone_asks_for_a_password_wherever_others_can_reach_it() -> None:
    assert authentication("127.0.0.1", None) is None
    assert authentication("::1", None) is None
    assert authentication("localhost", None) is None
    made = authentication("0.0.0.0", None)
    assert made is not None
    assert made.startswith("admin:")
    assert len(made) > 20
    assert made != authentication("0.0.0.0", None)
    assert authentication("127.0.0.1", "me:long-enough") == "me:long-enough"
    for poor in ("nocolon-in-here", "me:short", ":no-user-given"):
        with pytest.raises(ValueError, match="expected user:password"):
            authentication("0.0.0.0", poor)


def test_only_postgresql_is_taken_and_no_password_shown() -> None:
    assert database_url("postgres://u:p@h/d") == "postgresql+asyncpg://u:p@h/d"
    with pytest.raises(ValueError, match="DATABASE_URL begins with 'mysql'") as refused:
        database_url("mysql://u:hush@h/d")
    assert "hush" not in str(refused.value)
    with pytest.raises(ValueError, match="DATABASE_URL names no kind of database") as refused:
        database_url("u:hush@h/d")
    assert "hush" not in str(refused.value)


def test_a_port_that_is_taken_is_passed_over_and_a_host_that_is_none_is_named() -> None:
    taken = free_port()
    with pytest.raises(ValueError, match=r"host '192\.0\.2\.1' is not an address of this machine"):
        options_of("192.0.2.1", 4200, "wikisum", {})
    assert options_of("127.0.0.1", taken, "wikisum", {}).port == taken
    server = subprocess.Popen([sys.executable, "-m", "http.server", str(taken), "--bind", "127.0.0.1"])
    try:
        wait_until(lambda: is_open(taken), f"a server on port {taken}")
        assert options_of("127.0.0.1", taken, "wikisum", {}).port != taken
    finally:
        server.kill()
        server.wait()


def is_open(port: int) -> bool:
    return any(one.laddr.port == port and one.status == psutil.CONN_LISTEN for one in psutil.net_connections("tcp4"))


@contextmanager
def served(folder: Path, environment: dict[str, str], *arguments: str) -> Iterator[tuple[Process, Path]]:
    """A `make serve` that has started; killed at the end if it was not stopped."""
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "flows", "serve", "--port", str(free_port()), *arguments],
            cwd=PROJECT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:

        def started() -> bool:
            assert process.poll() is None, log.read_text()
            return STARTED in log.read_text()

        wait_until(started, repr(STARTED), log.read_text)
        yield process, log
    finally:
        for one in family(process):
            one.kill()
        process.wait(PATIENCE)


def family(process: Process) -> list[psutil.Process]:
    if process.poll() is not None:
        return []
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def line_after(log: Path, start: str) -> str:
    return next(line.removeprefix(start).strip() for line in log.read_text().splitlines() if line.startswith(start))


def stop(process: Process, number: signal.Signals) -> None:
    """Stop it as a person does; nothing of it stays."""
    all_of_it = family(process)
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    _, left = psutil.wait_procs(all_of_it, timeout=PATIENCE / 6)
    assert [one.cmdline() for one in left] == []


@pytest.mark.slow
def test_a_run_is_started_from_another_shell_on_postgresql(
    tmp_path: Path, tiny_environment: dict[str, str], undisturbed: Path
) -> None:
    root = tmp_path / "data"
    shutil.copytree(undisturbed, root)
    with postgresql() as database:
        environment = {**tiny_environment, "DATABASE_URL": database, "WIKISUM_FILES": str(tmp_path)}
        del environment["PREFECT_API_URL"]
        with served(tmp_path, environment) as (process, log):
            assert line_after(log, "database") == "PostgreSQL"
            ui, home = line_after(log, "Prefect UI"), tiny_environment["PREFECT_HOME"]
            api = signed_in(f"{ui}/api", kept(Path(home)))
            deployments = api.post(f"{ui}/api/deployments/filter", json={}, timeout=PATIENCE).json()
            assert {"build-wikisum", "train-ranker", "evaluate"} <= {one["name"] for one in deployments}
            automations = api.post(f"{ui}/api/automations/filter", json={}, timeout=PATIENCE).json()
            assert [one["name"] for one in automations] == [ZOMBIES]
            assert requests.get(ui, timeout=PATIENCE).ok
            wait_until(lambda: "retrain" in names_of(api, ui, "SCHEDULED"), "a scheduled run of retrain", log.read_text)
            run = subprocess.run(
                [
                    Path(sys.executable).with_name("prefect"),
                    "deployment",
                    "run",
                    "build-wikisum/build-wikisum",
                    "--watch",
                    "--params",
                    json.dumps({"config": {"root": str(root), **nested(TINY)}}),
                ],
                env={name: value for name, value in tiny_environment.items() if name != "PREFECT_API_URL"},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            assert run.returncode == 0, run.stdout + log.read_text()[-4000:]
            assert names_of(api, ui, "COMPLETED") >= {"build-wikisum", "train-ranker", "train-summarizer", "evaluate"}
            assert "computing" not in "".join(re.findall(r"(?:pages|examples|ranked): \w+", log.read_text()))
            stop(process, signal.SIGINT)
            assert "stopped; finished shards are kept" in log.read_text()


def names_of(api: requests.Session, ui: str, state: str) -> set[str]:
    """Names of the flows that have runs in a state."""
    runs = {"flow_runs": {"state": {"type": {"any_": [state]}}}}
    return {one["name"] for one in api.post(f"{ui}/api/flows/filter", json=runs, timeout=PATIENCE).json()}


@contextmanager
def postgresql() -> Iterator[str]:
    """The URL of a database in a cluster of the test's own.

    Not below pytest's folder: that is root's alone, and made so again whenever another pytest starts.
    """
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    found = shutil.which("initdb") or (str(programs[-1]) if programs else None)
    if found is None:
        pytest.skip("needs PostgreSQL's programs, such as initdb")
    with TemporaryDirectory(prefix="postgresql-") as name:
        folder, as_user = Path(name), list[str]()
        if os.getuid() == 0:  # which PostgreSQL refuses to run as
            as_user = ["runuser", "-u", "postgres", "--"]
            shutil.chown(folder, "postgres")
        port, data = free_port(), folder / "data"
        bin_ = Path(found).parent
        subprocess.run(
            [*as_user, found, "-D", str(data), "-U", "prefect", "--auth", "trust", "-E", "UTF8"],
            check=True,
            capture_output=True,
            cwd="/",
        )
        options = f"-h 127.0.0.1 -p {port} -k {folder} -F"
        control = [*as_user, str(bin_ / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
        subprocess.run([*control, "-o", options, "start"], check=True, stdout=subprocess.DEVNULL, cwd="/")
        try:
            yield f"postgresql://prefect@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=True, stdout=subprocess.DEVNULL, cwd="/")


@pytest.mark.slow
def test_others_need_the_password_that_was_shown_once(tmp_path: Path, tiny_environment: dict[str, str]) -> None:
    environment = {**tiny_environment, "PREFECT_HOME": str(tmp_path / "home"), "WIKISUM_BACKUP": str(tmp_path / "copy")}
    with served(tmp_path, environment, "--host", "0.0.0.0", "--upkeep") as (process, log):
        ui = line_after(log, "Prefect UI")
        shown = line_after(log, "sign in with").split()[0]
        user, password = shown.split(":")
        assert log.read_text().count(password) == 1
        pools = f"{ui}/api/work_pools/filter"
        api = signed_in(f"{ui}/api", shown)
        assert api.post(pools, json={}, timeout=PATIENCE, auth=(user, "wrong")).status_code == 401
        without_token = requests.post(pools, json={}, timeout=PATIENCE, auth=(user, password))
        assert (without_token.status_code, without_token.json()) == (403, {"detail": "Missing CSRF token."})
        found = api.post(pools, json={}, timeout=PATIENCE).json()
        assert [pool["name"] for pool in found] == ["wikisum"]
        deployments = f"{ui}/api/deployments/filter"
        deployed = api.post(deployments, json={}, timeout=PATIENCE).json()
        on_a_schedule = {one["name"] for one in deployed for schedule in one["schedules"] if schedule["active"]}
        assert on_a_schedule == {"retrain", "verify", "prune", "backup"}
        assert [one["parameters"]["to"] for one in deployed if one["name"] == "backup"] == [str(tmp_path / "copy")]
        assert not any(password in " ".join(one.cmdline()) for one in family(process))
        stop(process, signal.SIGTERM)
