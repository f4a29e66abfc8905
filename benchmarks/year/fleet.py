"""What a year of retraining runs on: Prefect's server with its alarms, a worker, the root on a disk of its own, and a
backup. A run is one of the deployment `retrain`, as the schedule starts it."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, chdir, closing
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import psutil
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import FlowRun
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Scheduled

from benchmarks.tiny_runs import ENDED, TINY, WEEKLY, Process, kill, nested, now, processes_of, state_of
from benchmarks.waiting import PATIENCE, wait_until
from benchmarks.webhook import Webhook
from flows.backup import backup
from flows.prune import prune
from flows.running.child_processes import free_port, stop, wait_for_api
from flows.running.operator import Operator, deployments_of
from flows.running.prefect_setup import SILENCE, create_automations, create_work_pool, deploy
from storage.store import Store

KEEP = 3  # builds and versions, as `prune` and `retrain` keep them by default
# On top of those of the tests: two shards take half the time of four, and the frozen test split needs eight articles
# before a challenger can be promoted at all.
SETTINGS = [
    "--source.miniweb.topics=48",
    "--shards.articles=2",
    "--shards.hosts=1",
    f"--retraining.keep={KEEP}",
    "--retraining.false-promotions=0.9",
    "--retraining.margin=0",
]


class Fleet:
    """Server, worker, root and backup below a folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str], webhook: Webhook, growth: float) -> None:
        self.root, self.copy, self._home = folder / "disk" / "data", folder / "backup", folder / "prefect-home"
        self._webhook, self._growth, self._folder = webhook, growth, folder
        self._port = free_port("127.0.0.1")
        self.environment = {
            **environment,
            "PREFECT_HOME": str(self._home),
            "PREFECT_API_URL": self._api,
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
            "PREFECT_LOGGING_SERVER_LEVEL": "ERROR",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "WIKISUM_FILES": str(folder),
        }
        self.code: dict[str, str] = {}  # further variables of each run
        self.expected: list[FlowRun] = []  # runs that did not end well, each of which has an alarm
        self._names: dict[UUID, str] = {}
        self._open = ExitStack()

    @property
    def _api(self) -> str:
        return f"http://127.0.0.1:{self._port}/api"

    @property
    def store(self) -> Store:
        """The root."""
        return Store(str(self.root))

    def __enter__(self) -> "Fleet":
        self._open.enter_context(chdir(self._folder))  # runs begin there, and find no package below it
        self._open.enter_context(temporary_settings({PREFECT_API_URL: self._api}))
        self._open.callback(self.end)
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def begin(self) -> None:
        """Start server and worker, with deployments and alarms, as `wikisum serve` does."""
        self._server = self._start("server", "start", "--port", str(self._port))
        if not wait_for_api(self._api, self._server, PATIENCE):
            raise RuntimeError("the Prefect server did not start")
        create_work_pool("wikisum", "process")
        create_automations(self._webhook.url, silence=SILENCE)
        deploy(self.environment, deployments_of(Operator(root=str(self.root), schedules={"retrain": False})))
        self.begin_worker()

    def begin_worker(self) -> None:
        """Start the worker."""
        self.worker = self._start("worker", "start", "--pool", "wikisum", "--type", "process")

    def _start(self, *arguments: str) -> Process:
        with (self._folder / "prefect.log").open("ab") as log:
            command = [sys.executable, "-m", "prefect", *arguments]
            output = {"stdout": log, "stderr": subprocess.STDOUT}
            return subprocess.Popen(command, env=self.environment, start_new_session=True, **output)

    def end(self) -> None:
        """Stop both."""
        stop(self.worker, 60)
        stop(self._server, 15)

    def lose_database(self) -> None:
        """Start again with an empty database."""
        self.end()
        for file in self._home.glob("prefect.db*"):
            file.unlink()
        self.begin()

    def lose_machine(self) -> None:
        """Kill the worker with the run that it started, as a machine dies, and start another worker."""
        kill(self.worker)
        self.begin_worker()

    def start_week(self, week: int, further: Mapping[str, str] | None = None) -> FlowRun:
        """Start a week's run, with `further` variables in its environment."""
        world = [f"--source.miniweb.week={week}", f"--source.miniweb.growth={self._growth}"]
        settings = nested([*TINY, *WEEKLY, *SETTINGS, *world])
        settings["retraining"]["week"] = label(week)
        config = {"config": {"root": str(self.root), **settings}}
        with get_client(sync_client=True) as client:
            deployment = client.read_deployment_by_name("retrain/retrain")
            variables = {**deployment.job_variables.get("env", {}), **self.code, **(further or {})}
            run = client.create_flow_run_from_deployment(
                deployment.id,
                parameters=config,
                state=Scheduled(scheduled_time=datetime.now(UTC)),
                job_variables={"env": variables},
            )
        self._names[run.id] = run.name
        return run

    def wait_for_process(self, run: FlowRun) -> list[psutil.Process]:
        """Wait until a run works, and return its processes."""

        def working() -> list[psutil.Process]:
            state = now(run).state
            return processes_of(run, self.worker) if state is not None and state.type.value == "RUNNING" else []

        wait_until(working, "the process of a run", lambda: str(now(run).state))
        return working()

    def finish(self, run: FlowRun) -> str:
        """Wait for the end of a run; return the type of its last state."""
        wait_until(lambda: state_of(run) in ENDED, "the end of a week", lambda: str(now(run).state))
        last = now(run)
        self._names[run.id] = last.name
        if state_of(run) in ("FAILED", "CRASHED"):
            self.expected.append(last)
        return state_of(run)

    def message(self, run: FlowRun) -> str:
        """Return the first line of what a run's last state says."""
        state = now(run).state
        lines = ((state.message if state else "") or "").strip().splitlines()
        return lines[0] if lines else ""

    def again(self, week: int, *, times: int = 2) -> tuple[FlowRun, str]:
        """Run a week until it is completed; return its run and the messages of those that were not."""
        messages = []
        for _ in range(times):
            run = self.start_week(week)
            if self.finish(run) == "COMPLETED":
                return run, "; ".join(messages)
            messages.append(self.message(run))
        raise RuntimeError(f"{label(week)} was not completed: {messages}")

    def keep_up(self) -> None:
        """Prune and back up, as `wikisum serve --upkeep` does each week."""
        prune.fn(str(self.root), KEEP)
        backup.fn(str(self.root), str(self.copy))

    def alarms(self, run: FlowRun) -> list[str]:
        """Return the alarms that name a run."""
        return [one["text"] for one in self._webhook.told if f"run {run.name} " in one["text"]]

    def other_alarms(self) -> list[str]:
        """Return the alarms that name no run that ended badly."""
        names = {run.name for run in self.expected}
        return [one["text"] for one in self._webhook.told if not any(f"run {name} " in one["text"] for name in names)]

    def wait_for_alarms(self) -> None:
        """Wait until each run that ended badly has had its alarm."""
        wait_until(lambda: all(map(self.alarms, self.expected)), "the last alarms", lambda: str(self._webhook.told))
        time.sleep(2.0)  # a second one would come now

    def bytes(self) -> tuple[int, int, int]:
        """Return the bytes of root, backup and database."""
        database = sum(file.stat().st_size for file in self._home.glob("prefect.db*"))
        return disk_bytes(self.root), disk_bytes(self.copy), database

    def database_rows(self) -> dict[str, int]:
        """Return the largest tables of the database -> their bytes."""
        with closing(sqlite3.connect(f"file:{self._home}/prefect.db?mode=ro", uri=True)) as database:
            query = "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 12"
            return dict(database.execute(query))


def label(week: int) -> str:
    """Return the ISO week that the week of a number stands for."""
    return f"2026-W{week + 1:02d}"


def disk_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
