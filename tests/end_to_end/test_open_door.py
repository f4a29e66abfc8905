"""No page of another site, and no program without the password, has a word with the servers of `wikisum serve`."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.end_to_end.prefect_api import signed_in
from tests.end_to_end.test_serve import line_after, served, stop
from tests.patience import PATIENCE, wait_until
from tests.tasks.fetching.loopback_server import LoopbackServer, answer

pytestmark = [pytest.mark.integration, pytest.mark.slow]
# What a page can try without leave: to read, to write without a preflight, to write with one, and to listen.
ATTACK = """async ([api, page]) => {
    const attempt = async (what) => { try { return await what() } catch (error) { return "blocked" } }
    const body = JSON.stringify({name: "evil", type: "process"}), type = {"Content-Type": "application/json"}
    const socket = new WebSocket(api.replace("http", "ws") + "/events/in")
    const heard = new Promise((done) => { socket.onopen = () => done("open"); socket.onclose = () => done("blocked") })
    return {
        read: await attempt(async () => (await fetch(api + "/deployments/name/summarize/summarize")).status),
        blind: await attempt(async () => (await fetch(
            api + "/work_pools/", {method: "POST", mode: "no-cors", body: new Blob([body])})).type),
        asked: await attempt(async () => (await fetch(
            api + "/work_pools/", {method: "POST", headers: type, body})).status),
        page: await attempt(async () => (await fetch(page + "/summaries")).status),
        listens: await heard,
    }
}"""


@dataclass(frozen=True)
class Served:
    """A `serve` that runs, and what its user knows."""

    ui: str
    page: str
    metrics: str
    credentials: str
    home: Path
    log: Path

    @property
    def api(self) -> str:
        return f"{self.ui}/api"

    @property
    def pools(self) -> list[str]:
        """The names of the work pools that there are."""
        asked = signed_in(self.api, self.credentials).post(f"{self.api}/work_pools/filter", json={}, timeout=PATIENCE)
        return sorted(pool["name"] for pool in asked.json())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    home = folder / "home"
    environment = {**os.environ, "PREFECT_HOME": str(home)}
    environment.pop("PREFECT_API_URL", None)
    with served(folder, environment, "--metrics", "0") as (_, log):
        lines = [line_after(log, start) for start in ("Prefect UI", "summaries", "metrics", "sign in with")]
        credentials = lines[3].split()[0]
        page = lines[1].split()[0]
        wait_until(lambda: is_there(page), "the page", log.read_text)
        yield Served(lines[0], page, lines[2].split()[0], credentials, home, log)


def is_there(page: str) -> bool:
    try:
        return requests.get(page, timeout=PATIENCE).status_code in (200, 401)
    except requests.ConnectionError:
        return False


def test_a_program_without_the_password_starts_nothing(server: Served, tmp_path: Path) -> None:
    for headers in ({}, {"Origin": "http://evil.test"}, {"Authorization": "Basic YWRtaW46"}):
        read = requests.get(f"{server.api}/deployments/name/summarize/summarize", headers=headers, timeout=PATIENCE)
        assert read.status_code == 401
        assert "access-control-allow-origin" not in read.headers
        made = requests.post(f"{server.api}/work_pools/", headers=headers, json={"name": "evil"}, timeout=PATIENCE)
        assert made.status_code in (401, 403)
    for address in (server.metrics, f"{server.page}/summaries"):
        assert requests.get(address, timeout=PATIENCE).status_code == 401
    assert server.pools == ["wikisum"]


def test_a_name_that_is_made_to_mean_this_machine_is_not_answered(server: Served) -> None:
    auth = tuple(server.credentials.split(":"))
    for address in (server.ui, f"{server.api}/health", server.metrics, server.page):
        elsewhere = requests.get(address, headers={"Host": "evil.test"}, auth=auth, timeout=PATIENCE)
        assert (address, elsewhere.status_code) == (address, 421)


def test_a_page_of_another_site_reads_nothing_changes_nothing_and_hears_nothing(server: Served, browser: Any) -> None:
    with LoopbackServer({"/": answer(b"<!doctype html><title>evil</title>", Content_Type="text/html")}) as other:
        page = browser.new_page()
        page.goto(f"http://{other.address}/")
        said = page.evaluate(ATTACK, [server.api, server.page])
        page.close()
    assert said == {"read": "blocked", "blind": "opaque", "asked": "blocked", "page": "blocked", "listens": "blocked"}
    assert server.pools == ["wikisum"]


def test_a_person_signs_in_once(server: Served, browser: Any) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=120_000)
    context = browser.new_context()
    page = context.new_page()
    refused: list[str] = []
    page.goto(server.ui)
    page.locator("input[type=password]").fill(server.credentials)
    page.get_by_role("button", name="Login").click()
    expect(page.locator("input[type=password]")).to_have_count(0)
    page.on("response", lambda one: refused.append(one.url) if one.status in (401, 403, 421) else None)
    page.goto(f"{server.ui}/deployments")
    expect(page.get_by_text("build-wikisum").first).to_be_visible()
    assert refused == []
    context.close()


@pytest.mark.parametrize(("source", "code"), [("README.md", 0), ("/etc/hostname", 1)])
def test_a_run_is_started_from_a_second_terminal(server: Served, tmp_path: Path, source: str, code: int) -> None:
    """By the command of the README, for a run of seconds; the shell knows only whose home it is. Files elsewhere than
    in the folder in which `serve` was started are refused."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    command = [str(Path(sys.executable).with_name("prefect")), "deployment", "run", "summarize/summarize", "--watch"]
    run = subprocess.run(
        [*command, "--params", json.dumps({"title": "wikisum", "sources": [source]})],
        env={**environment, "PREFECT_HOME": str(server.home)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == code, run.stdout + run.stderr
    refused = "'/etc/hostname' is outside" in server.log.read_text()
    assert refused == (code == 1)


def test_files_with_secrets_are_for_their_owner(server: Served) -> None:
    names = {path.name for path in server.home.iterdir() if path.is_file()}
    assert {"profiles.toml", "prefect.db", "prefect.db-wal"} <= names
    for name in names:
        assert (name, oct(stat.S_IMODE((server.home / name).stat().st_mode))) == (name, "0o600")
    assert server.log.read_text().count(server.credentials.partition(":")[2]) == 1


def test_a_restart_keeps_the_password_and_says_what_it_overwrites(tmp_path: Path) -> None:
    environment = {**os.environ, "PREFECT_HOME": str(tmp_path / "home")}
    environment.pop("PREFECT_API_URL", None)
    (file := tmp_path / "serve.yaml").write_text('schedules: {retrain: {cron: "30 4 * * 2"}}')
    options = ("--config", str(file), "--root", str(tmp_path / "data"))
    with served(tmp_path, environment, *options) as (process, log):
        credentials = line_after(log, "sign in with").split()[0]
        assert "overwritten" not in log.read_text()
        api = f"{line_after(log, 'Prefect UI')}/api"
        client = signed_in(api, credentials)
        found = client.get(f"{api}/deployments/name/retrain/retrain", timeout=PATIENCE).json()
        assert found["parameters"]["config"]["root"] == str(tmp_path / "data")
        assert [one["schedule"]["cron"] for one in found["schedules"]] == ["30 4 * * 2"]
        changed = {"parameters": {"config": {"preset": "records", "root": str(tmp_path / "data")}}}
        assert client.patch(f"{api}/deployments/{found['id']}", json=changed, timeout=PATIENCE).ok
        stop(process, signal.SIGINT)
    with served(tmp_path, environment, *options) as (process, log):
        api = f"{line_after(log, 'Prefect UI')}/api"
        assert signed_in(api, credentials).get(f"{api}/version", timeout=PATIENCE).ok
        assert credentials.partition(":")[2] not in log.read_text()
        overwritten = [line for line in log.read_text().splitlines() if line.startswith("overwritten")]
        assert overwritten == ["overwritten    retrain: config.preset 'records' on the server becomes 'miniweb'"]
        stop(process, signal.SIGINT)
