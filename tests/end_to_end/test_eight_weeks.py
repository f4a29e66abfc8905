"""Eight weeks of retraining as a server runs them: PostgreSQL, a root on S3, two workers, and `kill -9` in three."""

import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterName, LogFilter, LogFilterFlowRunId
from prefect.client.schemas.objects import FlowRun
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Scheduled

from benchmarks.tiny_runs import ENDED, TINY, WEEKLY, Process, kill, nested, now, processes_of, state_of
from benchmarks.webhook import receiving
from flows.running.child_processes import wait_for_api
from flows.running.prefect_setup import create_automations, create_work_pool, deploy
from flows.running.serve_options import database_url
from storage.registry import read_champion, read_version
from storage.store import Store
from tests.end_to_end.test_alarms import WORKER, started
from tests.end_to_end.test_serve import postgresql
from tests.patience import PATIENCE, wait_until
from tests.storage.object_store import CREDENTIALS, free_port, object_store, uri

pytestmark = [pytest.mark.integration, pytest.mark.slow]

WEEKS = 8
# Week -> the dataset or model whose first file is waited for before the kill, and what is killed.
KILLS = {2: ("articles", "run"), 4: ("features", "machine"), 6: ("graphs", "run")}


def start_week(root: str, week: int) -> FlowRun:
    config: dict[str, Any] = {"config": {"root": root, **nested([*TINY, *WEEKLY, f"--source.miniweb.week={week}"])}}
    config["config"]["retraining"]["week"] = f"2026-W{week + 1:02d}"
    with get_client(sync_client=True) as client:
        named = DeploymentFilter(name=DeploymentFilterName(any_=["retrain"]))
        (deployment,) = client.read_deployments(deployment_filter=named)
        due = Scheduled(scheduled_time=datetime.now(UTC))
        return client.create_flow_run_from_deployment(deployment.id, parameters=config, state=due)


def test_eight_weeks_with_kills_lose_none(
    tmp_path: Path, tiny_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    port = free_port()
    url = f"http://127.0.0.1:{port}/api"
    with ExitStack() as stack:
        root = uri(stack.enter_context(object_store()), "data")
        environment = {
            **tiny_environment,
            **CREDENTIALS,
            "PREFECT_HOME": str(tmp_path / "home"),
            "PREFECT_API_URL": url,
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
            "PREFECT_API_DATABASE_CONNECTION_URL": database_url(stack.enter_context(postgresql())) or "",
        }
        webhook = stack.enter_context(receiving())
        server = stack.enter_context(started(["prefect", "server", "start", "--port", str(port)], environment))
        assert wait_for_api(url, server, PATIENCE)
        stack.enter_context(temporary_settings({PREFECT_API_URL: url}))
        create_work_pool("wikisum", "process")
        create_automations(webhook.url)
        deploy(environment)
        workers: list[Process] = [stack.enter_context(started(WORKER, environment)) for _ in range(2)]

        def told(run: FlowRun) -> list[str]:
            return [one["text"] for one in webhook.told if f"run {now(run).name} " in one["text"]]

        def finish(run: FlowRun) -> None:
            wait_until(lambda: state_of(run) in ENDED, "the end of a week", lambda: str(now(run).state))
            assert state_of(run) == "COMPLETED", now(run).state

        def killed(run: FlowRun, dataset: str, what: str) -> None:
            def members() -> list[tuple[Process, psutil.Process]]:
                return [
                    (worker, one) for worker in workers if worker.poll() is None for one in processes_of(run, worker)
                ]

            def under_way() -> bool:
                assert state_of(run) not in ENDED, now(run).state
                logs = "".join(log.message for log in logs_of(run))
                return bool(members()) and f"{dataset}: computing" in logs

            wait_until(under_way, f"{dataset} of a week", lambda: str(now(run).state))
            if what == "run":
                for _, one in members():
                    one.kill()
            else:
                worker = members()[0][0]
                kill(worker)
                workers.remove(worker)
                workers.append(stack.enter_context(started(WORKER, environment)))
            wait_until(lambda: told(run), f"the alarm of a killed {what}", lambda: str(now(run).state))

        for week in range(WEEKS):
            began, run = time.monotonic(), start_week(root, week)
            alarms = 0
            if week in KILLS:
                killed(run, *KILLS[week])
                crashed, run = run, start_week(root, week)
                finish(run)
                alarms = len(told(crashed))
                assert alarms == 1, told(crashed)
            else:
                finish(run)
            version = read_version(Store(root), week + 1)
            assert version.label == f"2026-W{week + 1:02d}"
            computed, shards = version.computed.get("articles", (0, 0))
            print(
                f"{version.label}: killed {KILLS.get(week, ('', '-'))[1]}, {alarms} alarms, "
                f"{computed} of {shards} shards of articles computed, promoted: {version.verdict['promoted']}, "
                f"ROUGE-1 {version.scores['rouge1']:.3f}, {time.monotonic() - began:.0f} s",
                flush=True,
            )
        assert read_champion(Store(root)) is not None
        assert len([one for one in webhook.told if "is Crashed" in one["text"]]) == len(KILLS)
        # The process of a run ends a little after the run has.
        wait_until(
            lambda: not processes_left(environment), "the end of all runs", lambda: str(processes_left(environment))
        )


def logs_of(run: FlowRun) -> list[Any]:
    with get_client(sync_client=True) as client:
        return list(client.read_logs(log_filter=LogFilter(flow_run_id=LogFilterFlowRunId(any_=[run.id]))))


def processes_left(environment: dict[str, str]) -> list[list[str]]:
    """Return the command lines of runs that nobody waits for: their worker is gone."""
    found = []
    for one in psutil.process_iter():
        try:
            mine = one.environ().get("PREFECT_HOME") == environment["PREFECT_HOME"]
            if mine and "PREFECT__FLOW_RUN_ID" in one.environ():
                found.append(one.cmdline())
        except psutil.Error:
            continue
    return found
