"""Jobs as real Prefect tasks against a real (temporary) Prefect server, on every runner."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
import requests
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId
from prefect.context import FlowRunContext, SettingsContext
from prefect.exceptions import TerminationSignal
from prefect.settings import PREFECT_API_URL

from flows.running.display import ProgressLog
from flows.running.execution import PrefectExecutor, is_transient, start_worker
from flows.running.settings import EngineSettings
from flows.running.worker_processes import prefect_settings
from models.training.state import TrainingStopped
from models.training.stopping import stop_on_sigterm
from storage.builds import summarise
from storage.errors import CorruptShardError, StorageError, StorageFullError
from storage.schemas import FEATURES, PARAGRAPHS
from storage.store import Store
from tasks.engine.job import Job
from tasks.engine.recipe import Recipe, StageResult
from tasks.engine.stage import Executor, Outcome, Run, StageFailedError
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration

PROJECT = Path(__file__).parents[3]
SHARDS = 3


def rows(*, shard: int, counter: str) -> pa.Table:
    """Shard 1 meets a network fault once, shard 2 cannot be computed; every call leaves a mark."""
    mark = Path(counter) / f"{shard}-{len(list(Path(counter).glob(f'{shard}-*')))}"
    mark.touch()
    if shard == 1 and mark.name == "1-0":
        raise ConnectionError("the network blinked")
    if shard == 2:
        raise ValueError("shard 2 holds nonsense")
    return pa.Table.from_pylist([{"article_id": "a", "paragraph_id": shard}], schema=FEATURES.schema)


_shared: list[PrefectExecutor] = []


@pytest.fixture(scope="module")
def one_process(prefect_server: None) -> Iterator[None]:
    """One worker for all tests that need no other, since each loads every library."""
    executor = PrefectExecutor(EngineSettings(kind="processes", workers=1))
    _shared[:] = [executor]
    with executor.serving():
        yield


def executor_of(kind: str) -> PrefectExecutor:
    """Flows name functions alone: Prefect pickles a flow with every task, and with it the globals it names."""
    return _shared[0] if kind == "processes" else PrefectExecutor(EngineSettings(kind=kind, workers=1))


_kept: list[SettingsContext] = []


def settings_seen(job: Job) -> Any:
    """Return whether Prefect's settings are those that the first job of this process saw, and an address in them."""
    settings = SettingsContext.get()
    assert settings is not None
    _kept.append(settings)
    return settings is _kept[0], str(settings.settings.api.url)


@flow
def settings_of_jobs() -> dict[str, Outcome]:
    executor = executor_of("processes")
    with executor.serving():
        jobs = [
            Job(root="data", recipe=Recipe(FEATURES, rows), shard=shard, key="", inputs={}, digests={})
            for shard in range(2)
        ]
        return executor.run(settings_seen, jobs)


def test_a_worker_gets_the_settings_of_prefect_once(one_process: None) -> None:
    address = PREFECT_API_URL.value()  # not in the environment of the worker
    assert settings_of_jobs() == dict.fromkeys(("features-00000", "features-00001"), (True, address))


@flow
def small_flow(root: str, counter: str, kind: str) -> StageResult:
    executor = executor_of(kind)
    run = Run(Store(root), executor)
    with executor.serving():
        return run.stage(
            Recipe(FEATURES, rows, per_shard={"shard": range(SHARDS)}),
            shards=SHARDS,
            inputs={},
            context={"counter": counter},
        )


@pytest.mark.parametrize("kind", ["threads", "processes", pytest.param("dask", marks=pytest.mark.slow)])
def test_runners_retry_what_is_transient_and_let_a_bad_shard_fail_alone(
    one_process: None, tmp_path: Path, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.running.execution.RETRY_SECONDS", 0.0)
    counter = tmp_path / "calls"
    counter.mkdir()
    with pytest.raises(
        StageFailedError, match=r"1 of 3 failed(.|\n)*features-00002: ValueError: shard 2 holds nonsense"
    ):
        small_flow(str(tmp_path / "root"), str(counter), kind)
    assert sorted(mark.name for mark in counter.iterdir()) == ["0-0", "1-0", "1-1", "2-0"]
    assert len(list((tmp_path / "root" / "features").glob("*.parquet"))) == 2


ENDS: tuple[type[BaseException], ...] = (SystemExit, KeyboardInterrupt, TerminationSignal)


def ended(*, shard: int) -> pa.Table:
    """The first shards end as a process does that is told to; the last one is made."""
    if shard < len(ENDS):
        raise ENDS[shard](1)
    return pa.Table.from_pylist([{"article_id": "a", "paragraph_id": shard}], schema=FEATURES.schema)


def test_jobs_that_end_their_process_fail_alone(one_process: None, tmp_path: Path) -> None:
    @flow
    def ending(root: str) -> None:
        # One worker: the process in which three jobs ended makes the last one.
        executor = executor_of("processes")
        with executor.serving():
            Run(Store(root), executor).stage(
                Recipe(FEATURES, ended, per_shard={"shard": range(4)}), shards=4, inputs={}
            )

    with pytest.raises(StageFailedError, match="3 of 4 failed") as failure:
        ending(str(tmp_path))
    for shard, end in enumerate(ENDS):
        assert end.__name__ in str(failure.value.errors[f"features-0000{shard}"])
    assert len(list((tmp_path / "features").glob("*.parquet"))) == 1


def worker(*, counter: str) -> pa.Table:
    """Leave the process's id behind."""
    (Path(counter) / str(os.getpid())).touch()
    return FEATURES.schema.empty_table()


def training(*, marks: str) -> pa.Table:
    """Train until told to stop, having interrupted the run."""
    with stop_on_sigterm() as stop:
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(main, signal.SIGINT)
        if stop.wait(120):
            (Path(marks) / "told").touch()
    raise TrainingStopped("stopped")


def late_training(*, marks: str) -> pa.Table:
    """Interrupt the run while the libraries of a training would be loaded, and train when it has stopped its jobs."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)
    while not any(thread.name == "stop-jobs" for thread in threading.enumerate()):
        time.sleep(0.01)
    time.sleep(0.2)  # in which the trainings that were under way have been told
    with stop_on_sigterm() as stop:
        if stop.wait(30):
            (Path(marks) / "told").touch()
    raise TrainingStopped("stopped")


@pytest.mark.parametrize("training", [training, late_training])
def test_an_interrupted_run_stops_the_trainings_on_its_threads(
    training: Callable[..., pa.Table], prefect_server: None, tmp_path: Path
) -> None:
    @flow
    def interrupted(root: str) -> None:
        executor = PrefectExecutor(EngineSettings(kind="threads"))
        with executor.serving():
            Run(Store(root), executor).stage(Recipe(FEATURES, training), shards=1, inputs={}, context={"marks": root})

    with pytest.raises(KeyboardInterrupt):
        interrupted(str(tmp_path))
    assert (tmp_path / "told").exists()


def test_a_job_on_a_thread_that_cannot_be_told_ends_with_the_process() -> None:
    code = (
        "import threading; from flows.running import execution; execution.SAVE_SECONDS = 1\n"
        "threading.Thread(target=execution._stop_jobs, args=(threading.Event(),)).start()\n"
        "threading.Event().wait()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 130
    assert "finished work is kept" in done.stderr


def test_workers_leave_ctrl_c_to_the_run() -> None:
    with ProcessPoolExecutor(1, get_context("spawn"), start_worker, (os.getpid(), prefect_settings())) as pool:
        assert pool.submit(signal.getsignal, signal.SIGINT).result(PATIENCE) is signal.SIG_IGN


def serving() -> AbstractContextManager[None]:
    return executor_of("processes").serving()


def make_in(name: str, root: str) -> UUID:
    """Compute a shard and return the flow run that it was computed for."""
    with serving():
        run = Run(Store(f"{root}/{name}"), executor_of("processes"))
        run.stage(Recipe(FEATURES, worker), shards=1, inputs={}, context={"counter": f"{root}/workers"})
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    return context.flow_run.id


@flow
def inner(root: str) -> UUID:
    return make_in("inner", root)


@flow
def outer(root: str) -> list[UUID]:
    with serving():
        return [make_in("before", root), inner(root), make_in("after", root)]


def test_sub_flows_share_the_processes_and_keep_their_tasks(prefect_server: None, tmp_path: Path) -> None:
    (tmp_path / "workers").mkdir()
    _shared[:] = [PrefectExecutor(EngineSettings(kind="processes", workers=1))]  # the interrupted runs ended the other
    before, within, after = outer(str(tmp_path))
    assert before == after != within
    assert len(list((tmp_path / "workers").iterdir())) == 1
    with get_client(sync_client=True) as client:
        tasks = client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[within, before])))
    of = [task.flow_run_id for task in tasks if task.name.startswith("features")]
    assert sorted(map(str, of)) == sorted(map(str, [before, before, within]))


def test_a_finished_stage_leaves_an_artifact(prefect_server: None, tmp_path: Path) -> None:
    @flow
    def good(root: str) -> None:
        executor = PrefectExecutor(EngineSettings(kind="threads"))
        with executor.serving():
            Run(Store(root), executor).stage(
                Recipe(FEATURES, rows, per_shard={"shard": range(1)}), shards=1, inputs={}, context={"counter": root}
            )

    good(str(tmp_path))
    # Prefect's own client asks for artifacts in a form that the pinned server refuses (422).
    response = requests.get(f"{PREFECT_API_URL.value()}/artifacts/stage-features/latest", timeout=PATIENCE)
    assert "features: 1 rows in 1 shards" in response.json()["description"]


def test_progress_is_logged_and_shown_as_an_artifact(prefect_server: None) -> None:
    @dataclass(frozen=True)
    class Half:
        share: float

        def __str__(self) -> str:
            return f"step {self.share:.1f}"

    @flow
    def reporting() -> None:
        progress = ProgressLog("models/ranker")
        progress(Half(0.5))
        progress(Half(1.0))

    reporting()
    response = requests.get(f"{PREFECT_API_URL.value()}/artifacts/progress-models-ranker/latest", timeout=PATIENCE)
    assert (response.json()["data"], response.json()["description"]) == (100.0, "step 1.0")
    ProgressLog("outside a run")(Half(1.0))


def test_only_faults_that_may_pass_are_retried() -> None:
    lost = StorageError("upload failed")
    lost.__cause__ = OSError("connection reset")
    denied = StorageError("cannot write")
    denied.__cause__ = PermissionError("no")
    assert [is_transient(error) for error in (ConnectionError(), TimeoutError(), lost)] == [True, True, True]
    permanent = (ValueError(), denied, StorageFullError(), CorruptShardError("a", "b"), MemoryError())
    assert [is_transient(error) for error in permanent] == [False] * 5


@pytest.mark.parametrize("cause", [PermissionError, FileNotFoundError, NotADirectoryError])
def test_a_path_that_cannot_be_written_is_not_tried_again(cause: type[OSError]) -> None:
    error = StorageError("cannot write")
    error.__cause__ = cause("no")
    assert not is_transient(error)


def test_summarise_adds_records_up(tmp_path: Path) -> None:
    def refused(*, shard: int) -> pa.Table:
        reasons = ["clone", None, "too_short"][: shard + 1]
        table = [{"article_id": "a", "drop_reason": reason} for reason in reasons]
        return pa.Table.from_pylist(table, schema=PARAGRAPHS.schema)

    run = Run(Store(str(tmp_path)), Executor())
    summary = summarise(
        run.stage(Recipe(PARAGRAPHS, refused, per_shard={"shard": range(3)}), shards=3, inputs={}).records.values()
    )
    assert summary["rows"] == 1 + 2 + 3
    assert summary["drops"] == {"clone": 3, "too_short": 1}
    assert summary["bytes"] == sum(file.stat().st_size for file in (tmp_path / "paragraphs").glob("*.parquet"))
