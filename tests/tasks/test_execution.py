"""Jobs as real Prefect tasks against a real (temporary) Prefect server, on every runner."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import requests
from prefect import flow
from prefect.settings import PREFECT_API_URL

from storage.errors import CorruptShardError, StorageError, StorageFullError
from storage.schemas import FEATURES, PARAGRAPHS
from storage.store import Store
from tasks.execution import EngineSettings, PrefectExecutor, is_transient
from tasks.inputs import StageResult
from tasks.progress import ProgressLog
from tasks.publishing import summarise
from tasks.stage import InlineExecutor, Run, StageFailedError

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


@flow
def small_flow(root: str, counter: str, kind: str) -> StageResult:
    executor = PrefectExecutor(EngineSettings(kind=kind, workers=2, retry_seconds=0))
    run = Run(Store(root), executor)
    with executor.serving():
        return run.stage(FEATURES, rows, shards=SHARDS, inputs={}, shard_argument="shard", context={"counter": counter})


@pytest.mark.parametrize("kind", ["threads", "processes", pytest.param("dask", marks=pytest.mark.slow)])
def test_runners_retry_what_is_transient_and_let_a_bad_shard_fail_alone(
    prefect_server: None, tmp_path: Path, kind: Any
) -> None:
    counter = tmp_path / "calls"
    counter.mkdir()
    with pytest.raises(
        StageFailedError, match=r"1 of 3 failed(.|\n)*features-00002: ValueError: shard 2 holds nonsense"
    ):
        small_flow(str(tmp_path / "root"), str(counter), kind)
    assert sorted(mark.name for mark in counter.iterdir()) == ["0-0", "1-0", "1-1", "2-0"]
    assert len(list((tmp_path / "root" / "features").glob("*.parquet"))) == 2


def test_a_finished_stage_leaves_an_artifact(prefect_server: None, tmp_path: Path) -> None:
    @flow
    def good(root: str) -> None:
        executor = PrefectExecutor(EngineSettings(kind="threads"))
        with executor.serving():
            Run(Store(root), executor).stage(
                FEATURES, rows, shards=1, inputs={}, shard_argument="shard", context={"counter": root}
            )

    good(str(tmp_path))
    # Prefect's own client asks for artifacts in a form that the pinned server refuses (422).
    response = requests.get(f"{PREFECT_API_URL.value()}/artifacts/stage-features/latest", timeout=30)
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
    response = requests.get(f"{PREFECT_API_URL.value()}/artifacts/progress-models-ranker/latest", timeout=30)
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


def test_summarise_adds_records_up(tmp_path: Path) -> None:
    def refused(*, shard: int) -> pa.Table:
        reasons = ["clone", None, "too_short"][: shard + 1]
        table = [{"article_id": "a", "drop_reason": reason} for reason in reasons]
        return pa.Table.from_pylist(table, schema=PARAGRAPHS.schema)

    run = Run(Store(str(tmp_path)), InlineExecutor())
    summary = summarise(run.stage(PARAGRAPHS, refused, shards=3, inputs={}, shard_argument="shard"))
    assert summary["rows"] == 1 + 2 + 3
    assert summary["drops"] == {"clone": 3, "too_short": 1}
    assert summary["bytes"] == sum(file.stat().st_size for file in (tmp_path / "paragraphs").glob("*.parquet"))
