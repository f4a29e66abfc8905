"""A training of two processes as a Prefect task in a worker process: its progress and its log reach the UI."""

from pathlib import Path
from typing import Any

import pytest
import requests
from prefect import flow
from prefect.settings import PREFECT_API_URL

from flows.running.display import ProgressLog
from flows.running.execution import PrefectExecutor
from flows.running.settings import EngineSettings
from storage.store import Store
from tasks.engine.recipe import DirectoryResult, Recipe
from tasks.engine.stage import Run
from tests.patience import PATIENCE, wait_until
from tests.tasks.summarization.test_torchrun import train

pytestmark = [pytest.mark.integration, pytest.mark.slow]


def train_together(*, directory: Path, progress: ProgressLog) -> dict[str, Any]:
    return train(directory, progress, processes=2, steps=3)


@flow
def training(root: str) -> DirectoryResult:
    executor = PrefectExecutor(EngineSettings(kind="processes", workers=1))
    with executor.serving():
        return Run(Store(root), executor).directory(
            Recipe("models/summarizer", train_together, version=1),
            inputs={},
            context={"progress": ProgressLog("models-together")},
        )


def test_progress_and_log_reach_the_ui(prefect_server: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGLEVEL", "INFO")  # torchrun then writes with what it starts
    record = training(str(tmp_path)).record
    assert record is not None
    assert record.metrics["steps"] == 3
    api = PREFECT_API_URL.value()
    shown = requests.get(f"{api}/artifacts/progress-models-together/latest", timeout=PATIENCE).json()
    assert shown["data"] == 100
    assert shown["description"].startswith("step 3 of 3; loss ")
    newest = {"sort": "TIMESTAMP_DESC"}  # other tests write to this server too, and it answers with 200 lines

    def logged() -> str:
        return requests.post(f"{api}/logs/filter", json=newest, timeout=PATIENCE).text

    wait_until(lambda: "launch configs" in logged(), "a line of torchrun's log", logged)
