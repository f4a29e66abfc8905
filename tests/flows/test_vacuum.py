"""Prefect's vacuum deletes old runs with their artifacts; `flows.republish` brings back what the root still says."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from flows.running.child_processes import free_port, start, stop, wait_for_api
from tests.flows.test_republish import built
from tests.patience import PATIENCE, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.slow]
PROJECT = Path(__file__).parents[2]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A real server whose vacuum looks every second; yield the environment of its clients."""
    port = free_port("127.0.0.1")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_LOOP_SECONDS": "1",
    }
    process = start([sys.executable, "-m", "prefect", "server", "start", "--port", str(port)], environment, quiet=True)
    try:
        assert wait_for_api(environment["PREFECT_API_URL"], process, PATIENCE)
        yield environment
    finally:
        stop(process, 10)


def published(server: dict[str, str]) -> dict[str, str]:
    """Key -> content of the artifacts that are there."""
    answer = requests.post(f"{server['PREFECT_API_URL']}/artifacts/filter", json={}, timeout=PATIENCE)
    return {one["key"]: one["data"] for one in answer.json()}


def republish(root: Path, server: dict[str, str]) -> None:
    command = [sys.executable, "-m", "flows", "republish", "--root", str(root)]
    subprocess.run(command, cwd=PROJECT, env=server, check=True, timeout=PATIENCE)


def test_what_the_vacuum_took_comes_back(server: dict[str, str], tmp_path: Path) -> None:
    root = tmp_path / "root"
    built(root, name="rivers")
    republish(root, server)
    before = published(server)
    names = ("index", "lineage", "model-card", "champion-challenger", "champion-challenger-recent", "report-scores")
    assert {f"rivers-{name}" for name in names} <= set(before)

    with sqlite3.connect(tmp_path / "prefect/prefect.db", timeout=PATIENCE) as database:
        database.execute("UPDATE flow_run SET end_time = datetime(end_time, '-100 days')")  # 90 are kept
    wait_until(lambda: published(server) == {}, "the vacuum")

    republish(root, server)
    assert published(server) == before
