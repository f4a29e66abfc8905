"""The server's alarms, told to a receiver on loopback: of what `kill -9` ends, of runs that never start, and others."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterName
from prefect.client.schemas.objects import FlowRun
from prefect.events.worker import EventsWorker
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Cancelling, Completed, Running, Scheduled, State

from benchmarks.tiny_runs import ENDED, PROJECT, TINY, Process, kill, nested, now, processes_of, state_of
from benchmarks.webhook import receiving
from flows.running import checks, faults
from flows.running.child_processes import start, wait_for_api
from flows.running.faults import report_full_disk, report_refused
from flows.running.prefect_setup import ZOMBIES, create_automations, create_work_pool, deploy
from storage.registry import save_version
from storage.store import Store
from tests.end_to_end.faults import content
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import free_port
from tests.storage.test_registry import version

pytestmark = [pytest.mark.integration, pytest.mark.slow]

WORKER = ["prefect", "worker", "start", "--pool", "wikisum", "--type", "process"]


@contextmanager
def started(command: list[str], environment: dict[str, str]) -> Iterator[Process]:
    """A process of its own session that is killed with all its children where the block ends."""
    process = start([sys.executable, "-m", *command], environment)
    try:
        yield process
    finally:
        kill(process)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, tiny_environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """A Prefect server with the deployments; yields the environment of its workers."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/api"
    environment = {**tiny_environment, "PREFECT_HOME": str(tmp_path_factory.mktemp("home")), "PREFECT_API_URL": url}
    environment["WIKISUM_FILES"] = str(tmp_path_factory.getbasetemp())  # roots are beside the folder of the workers
    with ExitStack() as stack:
        process = stack.enter_context(started(["prefect", "server", "start", "--port", str(port)], environment))
        assert wait_for_api(url, process, PATIENCE)
        stack.enter_context(temporary_settings({PREFECT_API_URL: url}))
        EventsWorker.drain_all(at_exit=False)  # one of an earlier test's server would go on sending there
        stack.callback(EventsWorker.drain_all, at_exit=False)
        create_work_pool("wikisum", "process")
        deploy(environment)
        yield environment


def planned(root: Path, state: State | None = None) -> FlowRun:
    """A run of the whole DAG, at a tiny size, that is due or in a state."""
    with get_client(sync_client=True) as client:
        named = DeploymentFilter(name=DeploymentFilterName(any_=["build-wikisum"]))
        (deployment,) = client.read_deployments(deployment_filter=named)
        config = {"config": {"root": str(root), **nested(TINY)}}
        due = Scheduled(scheduled_time=datetime.now(UTC))
        run = client.create_flow_run_from_deployment(deployment.id, parameters=config, state=due)
        if state is not None:
            client.set_flow_run_state(run.id, state, force=True)
        return run


def test_what_dies_and_what_never_starts_is_told_once(server: dict[str, str], tmp_path: Path) -> None:
    with receiving() as webhook:
        asked = subprocess.run(
            [sys.executable, "-m", "flows", "alarms", "--to", webhook.url],
            cwd=PROJECT,
            env=server,
            capture_output=True,
            text=True,
            check=True,
        )
        assert len(asked.stdout.splitlines()) == 10

        def told(run: FlowRun) -> list[str]:
            return [one["text"] for one in webhook.told if f"run {now(run).name} " in one["text"]]

        def under_way(name: str) -> FlowRun:
            run, root = planned(tmp_path / name), tmp_path / name
            wait_until(lambda: (root / "articles").is_dir(), f"the first stage of {name}", lambda: str(now(run).state))
            return run

        with started(WORKER, server) as worker:
            killed = under_way("killed")
            for one in processes_of(killed, worker):
                one.kill()
            wait_until(lambda: told(killed), "the alarm of a killed run", lambda: str(now(killed).state))
            silent = under_way("silent")
            kill(worker)
        create_automations(webhook.url, late=timedelta(seconds=10))
        unseen = planned(tmp_path / "unseen")
        wait_until(lambda: told(unseen), "the alarm of a run that no worker takes", lambda: str(now(unseen).state))
        wait_until(lambda: told(silent), "the alarm of a run whose machine died", lambda: str(now(silent).state))
        for run in (killed, silent):
            assert [one.partition(". ")[0] for one in told(run)] == [f"build-wikisum: run {now(run).name} is Crashed"]
        assert "No heartbeat" in told(silent)[0]
        assert len(told(unseen)) == 1
        assert "has not started 0:00:10 after its time" in told(unseen)[0]
        assert len(webhook.told) == 3


def test_a_cancelled_run_is_continued_by_the_next(server: dict[str, str], undisturbed: Path, tmp_path: Path) -> None:
    root = tmp_path / "data"
    with started(WORKER, server) as worker, get_client(sync_client=True) as client:
        cancelled = planned(root)
        wait_until((root / "documents").is_dir, "the documents", lambda: str(now(cancelled).state))
        processes = processes_of(cancelled, worker)
        client.set_flow_run_state(cancelled.id, Cancelling())
        wait_until(lambda: state_of(cancelled) == "CANCELLED", "its end", lambda: str(now(cancelled).state))
        psutil.wait_procs(processes, PATIENCE)
        again = planned(root)
        wait_until(lambda: state_of(again) in ENDED, "the end of the next", lambda: str(now(again).state))
        assert state_of(again) == "COMPLETED", now(again).state
    assert content(root) == content(undisturbed)


def test_long_runs_full_disks_and_weeks_without_a_promotion_are_told_once(
    server: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(tmp_path))
    refused = {"promoted": False, "reason": "worse than the champion", "guarded": True}
    for number in (1, 2, 3, 4):
        save_version(store, replace(version(number), verdict=refused if number > 1 else {"promoted": True}))
    with receiving() as webhook:
        create_automations(webhook.url, longest=timedelta(seconds=10))
        planned(tmp_path, Running()), planned(tmp_path, Completed())
        report_full_disk(store)
        report_refused(store, 4)
        monkeypatch.setattr(faults, "FULL", 0.0)
        for _ in range(2):  # as a run that goes on reports
            report_full_disk(store)
            report_refused(store, 2)
        wait_until(lambda: len(webhook.told) >= 4, "four alarms", lambda: str(webhook.told))
        guard, long, disk, weeks = sorted(one["text"] for one in webhook.told)
        assert guard == f"a guard. a guard refused version 4: worse than the champion, below {tmp_path}"
        assert disk.startswith(f"disk. the disk of {tmp_path} on ")
        assert "takes longer than 0:00:10" in long
        assert weeks == (
            f"no promotion. 3 weeks without a promotion below {tmp_path}. version 4: worse than the champion. "
            "version 3: worse than the champion"  # of as many as it takes
        )
        create_automations(None)
        with get_client(sync_client=True) as client:
            assert [one.name for one in client.read_automations()] == [ZOMBIES]


def test_a_paused_schedule_and_an_old_backup_are_told_once(
    server: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, looks = Store(str(tmp_path / "data")), []
    save_version(root, version(1))
    begun = datetime.now(UTC) - timedelta(days=9)
    os.utime(tmp_path / "data" / "registry" / "versions" / "000001.json", (begun.timestamp(),) * 2)
    monkeypatch.setenv(checks.BACKUP, str(tmp_path / "copy"))
    monkeypatch.setattr(checks, "_SECONDS", 1.0)

    def found() -> Iterator[faults.Fault]:
        with temporary_settings({PREFECT_API_URL: server["PREFECT_API_URL"]}):  # of this thread
            yield from checks.root_faults(root)
            yield from checks.missed_schedules(["retrain", "build-corpus", "there-is-none"])
        looks.append(1)

    with receiving() as webhook, get_client(sync_client=True) as client:
        create_automations(webhook.url)
        deployment = client.read_deployment_by_name("retrain/retrain")
        run = client.create_flow_run_from_deployment(deployment.id, state=Scheduled())
        client.set_flow_run_state(run.id, Running(), force=True)
        client.set_flow_run_state(run.id, Completed(), force=True)
        with closing(sqlite3.connect(Path(server["PREFECT_HOME"], "prefect.db"))) as database:  # the API sets the time
            database.execute("UPDATE flow_run SET start_time = ? WHERE id = ?", (f"{begun:%F %T.%f}", str(run.id)))
            database.commit()
        for schedule in deployment.schedules:
            client.update_deployment_schedule(deployment.id, schedule.id, active=False)
        with checks.watching(found):
            wait_until(lambda: len(webhook.told) >= 2, "two alarms", lambda: str(webhook.told))
            seen = len(looks)
            wait_until(lambda: len(looks) > seen + 2, "two more looks")
        backup, schedule_ = sorted(one["text"] for one in webhook.told)
        assert backup == (
            f"backup. the backup {tmp_path}/copy, which has no generation, lacks 1 files of {tmp_path}/data since "
            f"{begun:%Y-%m-%d}: wikisum backup"
        )
        assert schedule_.startswith("schedule. retrain was due ")
        assert schedule_.endswith(f"its last run started {begun:%Y-%m-%d %H:%M}; its schedule is paused")
        run = client.create_flow_run_from_deployment(deployment.id, state=Scheduled())
        client.set_flow_run_state(run.id, Running(), force=True)
        assert list(checks.missed_schedules(["retrain"])) == []


def test_a_block_that_is_not_there_is_named(server: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="alarms go to 'slack-webhook/ops': expected a URL, or a notification block"):
        create_automations("slack-webhook/ops")
