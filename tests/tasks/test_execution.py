"""Jobs as real Prefect tasks against a real (temporary) Prefect server, on every runner."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from prefect import flow
from prefect.artifacts import Artifact

from storage.errors import CorruptShardError, StorageError, StorageFullError
from storage.schemas import FEATURES, PARAGRAPHS
from storage.store import Store
from tasks.execution import EngineSettings, PrefectExecutor, is_transient, summarise, task_runner
from tasks.inputs import StageResult
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
    run = Run(Store(root), PrefectExecutor(EngineSettings(kind=kind, retry_seconds=0)))
    return run.stage(FEATURES, rows, shards=SHARDS, inputs={}, shard_argument="shard", context={"counter": counter})


@pytest.mark.parametrize("kind", ["threads", "processes", pytest.param("dask", marks=pytest.mark.slow)])
def test_runners_retry_what_is_transient_and_let_a_bad_shard_fail_alone(
    prefect_server: None, tmp_path: Path, kind: Any
) -> None:
    counter = tmp_path / "calls"
    counter.mkdir()
    runner = task_runner(EngineSettings(kind=kind, workers=2))
    with pytest.raises(
        StageFailedError, match=r"1 of 3 failed(.|\n)*features-00002: ValueError: shard 2 holds nonsense"
    ):
        small_flow.with_options(task_runner=runner)(str(tmp_path / "root"), str(counter), kind)
    assert sorted(mark.name for mark in counter.iterdir()) == ["0-0", "1-0", "1-1", "2-0"]
    assert len(list((tmp_path / "root" / "features").glob("*.parquet"))) == 2


def test_a_finished_stage_leaves_an_artifact(prefect_server: None, tmp_path: Path) -> None:
    @flow
    def good(root: str) -> None:
        run = Run(Store(root), PrefectExecutor(EngineSettings(kind="threads")))
        run.stage(FEATURES, rows, shards=1, inputs={}, shard_argument="shard", context={"counter": root})

    good.with_options(task_runner=task_runner(EngineSettings(kind="threads")))(str(tmp_path))
    artifact = Artifact.get("stage-features")
    assert artifact is not None
    assert "**features**: 1 rows" in str(artifact.description)


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
