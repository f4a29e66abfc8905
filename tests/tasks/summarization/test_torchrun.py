"""Training on two processes of this machine, as the stage does it: `torchrun`, gloo, and the task's own process."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from models.training.checkpoints import read_metrics
from models.training.distributed import process_count
from models.training.state import TrainingError, TrainingProgress, TrainingStopped
from models.training.stopping import stop_trainings
from tasks.summarization.directory import load_summarizer
from tasks.summarization.settings import TrainingSettings
from tasks.summarization.training import train_summarizer
from tests.patience import PATIENCE, wait_until
from tests.tasks.summarization.summarizer_examples import FEW, TINY, shards, vocabulary


def train(directory: Path, progress: Callable[[TrainingProgress], None] | None = None, **changes: Any):
    training = FEW.model_copy(update={"accumulation": 2, "batch_tokens": 256, "log_interval": 1, **changes})
    return train_summarizer(
        shards(), vocabulary(), TINY, training=training, directory=directory, seed=1, progress=progress
    )


def processes_of(folder: Path, having: str = "") -> list[int]:
    """Ids of the processes of trainings whose TMPDIR is a folder; those of ranks alone have the variable RANK."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode().split("\0")
            variables = (entry / "environ").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        ours = "tasks.engine.torchrun" in command and f"TMPDIR={folder}" in variables
        if ours and any(variable.startswith(having) for variable in variables):
            found.append(int(entry.name))
    return found


@pytest.fixture
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A TMPDIR of one test's processes, by which they are found."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def test_processes_share_the_batches_of_an_update_equally() -> None:
    with pytest.raises(ValueError, match="processes is 3: expected a divisor of accumulation, which is 4"):
        TrainingSettings(processes=3)
    assert TrainingSettings(processes=2).processes == 2
    assert process_count(None, 4, "cpu") == 1
    assert process_count(2, 4, "cpu") == 2


def test_auto_takes_as_many_gpus_as_share_equally(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("models.training.distributed.find_device", lambda name: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 6)
    assert [process_count(None, batches, "auto") for batches in (1, 4, 6, 12, 8)] == [1, 4, 6, 6, 4]
    assert process_count(None, 4, "cuda:1") == 1
    for device, gpus in (("cuda", 6), ("cuda:1", 1)):
        with pytest.raises(ValueError, match=f"processes is 8: expected at most {gpus}, the GPUs"):
            process_count(8, 8, device)
    assert [process_count(asked, 8, "auto") for asked in (2, 4, 8)] == [2, 4, 4]  # of 6


@pytest.mark.integration
def test_two_processes_learn_what_one_learns(tmp_path: Path) -> None:
    reports: list[TrainingProgress] = []
    changes = {"steps": 50, "validation_interval": 25}
    one = train(tmp_path / "one", **changes)
    two = train(tmp_path / "two", reports.append, processes=2, **changes)
    of_one, of_two = (read_metrics(tmp_path / name / "metrics.jsonl") for name in ("one", "two"))
    assert len(of_one) == len(of_two) == 52
    for expected, found in zip(of_one, of_two, strict=True):
        assert found["step"] == expected["step"]
        assert found["loss"] == pytest.approx(expected["loss"], rel=1e-4)
    assert two["steps"] == one["steps"] == 50
    assert two["validation_nll"] == pytest.approx(one["validation_nll"], rel=1e-4)
    assert two["published"] == one["published"]
    assert load_summarizer(tmp_path / "two").name == "ht"
    assert [report.step for report in reports if report.tokens_per_second] == list(range(1, 51))
    assert str(reports[-1]).startswith("step 50 of 50; loss ")


@pytest.mark.slow
@pytest.mark.integration
def test_a_stopped_training_saves_leaves_no_process_and_continues(tmp_path: Path, own_tmp: Path) -> None:
    changes = {"processes": 2, "validation_interval": 1000}

    def stop(at: TrainingProgress) -> None:
        if at.step == 3:
            stop_trainings()

    with pytest.raises(TrainingStopped, match=r"stopped by SIGTERM after step \d+; the same command continues"):
        train(tmp_path / "parts", stop, steps=20_000, **changes)
    assert processes_of(own_tmp) == []
    assert [path.name for path in own_tmp.iterdir() if "elastic" in path.name or "together" in path.name] == []
    steps = read_metrics(tmp_path / "parts/metrics.jsonl")[-1]["step"] + 5
    assert 8 <= steps < 20_000
    for name in ("parts", "whole"):
        assert train(tmp_path / name, steps=steps, **changes)["steps"] == steps
    parts, whole = (load_summarizer(tmp_path / name).model.state_dict() for name in ("parts", "whole"))
    for name, expected in whole.items():
        torch.testing.assert_close(parts[name], expected, rtol=0, atol=0, msg=name)


@pytest.mark.integration
def test_a_killed_process_ends_the_training_with_the_end_of_its_log(tmp_path: Path, own_tmp: Path) -> None:
    killed: list[int] = []

    def kill(at: TrainingProgress) -> None:
        if at.step >= 3 and not killed:
            killed.append(processes_of(own_tmp, "RANK=")[-1])
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(TrainingError, match="training on 2 processes ended with exit status 1") as caught:
        train(tmp_path / "model", kill, processes=2, steps=2000)
    assert str(killed[0]) in str(caught.value)
    assert "SIGKILL" in str(caught.value)
    assert processes_of(own_tmp) == []


@pytest.mark.slow
@pytest.mark.integration
def test_an_error_of_a_process_is_the_error_of_the_task(tmp_path: Path) -> None:
    train(tmp_path, steps=2)
    with pytest.raises(ValueError, match="other settings"):
        train(tmp_path, processes=2, steps=2)


_TASK = """
import sys
from pathlib import Path
from tests.tasks.summarization.test_torchrun import train
train(Path(sys.argv[1]), lambda at: print(at.step, flush=True), processes=2, steps=100000)
"""


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_a_task_that_ends_leaves_no_process(tmp_path: Path, own_tmp: Path, sent: signal.Signals) -> None:
    task = subprocess.Popen(
        [sys.executable, "-c", _TASK, str(tmp_path / "model")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(PATIENCE, task.kill)
    watchdog.start()
    try:
        assert task.stdout is not None
        assert task.stdout.readline() == "1\n"
        assert len(processes_of(own_tmp, "RANK=")) == 2
        task.send_signal(sent)
        _, errors = task.communicate()
    finally:
        watchdog.cancel()
        task.kill()
    wait_until(lambda: not processes_of(own_tmp), "the processes of the training to end")
    if sent == signal.SIGTERM:
        assert "TrainingStopped: stopped by SIGTERM after step" in errors
        assert list((tmp_path / "model/checkpoints").glob("step-*"))
