"""Summarizer, ranker and attention predictor keep the same promises: killed or stopped, they end as if undisturbed."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch

from models.training.checkpoints import Checkpoints, read_metrics
from models.training.state import TrainingError, TrainingProgress, TrainingStopped
from models.training.stopping import stop_trainings
from models.training.trainer import Updater
from tests.patience import output_of
from tests.tasks import training_program
from tests.tasks.training_program import TRAININGS

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
every_training = pytest.mark.parametrize("name", TRAININGS)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with each training, run through; the summarizer is the predictor's teacher."""
    folder = tmp_path_factory.mktemp("undisturbed")
    for name, train in TRAININGS.items():
        train(folder / name, folder / "summarizer")
    return folder


def timeless(directory: Path) -> list[dict[str, Any]]:
    records = read_metrics(directory / "metrics.jsonl")
    return [{key: value for key, value in record.items() if "second" not in key} for record in records]


def assert_equal_runs(one: Path, other: Path) -> None:
    assert timeless(one) == timeless(other)
    files = sorted(path.relative_to(one) for path in one.rglob("*.safetensors"))
    assert files == sorted(path.relative_to(other) for path in other.rglob("*.safetensors"))
    assert len(files) > 4
    for file in [*files, "best.json", "config.json"]:
        assert (one / file).read_bytes() == (other / file).read_bytes(), file


@every_training
def test_all_of_them_log_alike(name: str, undisturbed: Path) -> None:
    records = read_metrics(undisturbed / name / "metrics.jsonl")
    (measure,) = {"loss", "error"} & records[0].keys()
    common = {"kind", "step", "epoch", measure, "seconds"}
    measured = {"learning_rate", "gradient_norm", "skipped", "source_tokens_per_second", "padding"}
    for record in records:
        wanted = common if record["kind"] == "validation" else common | measured
        assert wanted <= record.keys()
    steps = [record["step"] for record in records if record["kind"] == "train"]
    assert steps == list(range(1, steps[-1] + 1))
    assert records[-1]["kind"] == "validation"
    assert records[-1]["step"] == steps[-1] > 8


@every_training
def test_one_that_was_killed_ends_where_an_undisturbed_one_does(name: str, undisturbed: Path, tmp_path: Path) -> None:
    program, teacher = training_program.__file__, undisturbed / "summarizer"
    process = subprocess.Popen(
        [sys.executable, program, name, tmp_path / "run", teacher, "9"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _, errors = output_of(process)
    assert process.returncode == -signal.SIGKILL, errors
    latest = Checkpoints(tmp_path / "run" / "checkpoints").latest()
    assert latest is not None
    assert latest.step == 8
    assert [record["step"] for record in read_metrics(tmp_path / "run" / "metrics.jsonl")][-1] == 9
    TRAININGS[name](tmp_path / "run", teacher)
    assert_equal_runs(tmp_path / "run", undisturbed / name)


@every_training
@pytest.mark.parametrize("thread", [False, True], ids=["sigterm", "thread"])
def test_one_that_was_told_to_stop_goes_on(name: str, thread: bool, undisturbed: Path, tmp_path: Path) -> None:
    teacher = undisturbed / "summarizer"

    def stop(at: TrainingProgress) -> None:
        if at.step == 5:
            stop_trainings() if thread else os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingStopped, match="stopped by SIGTERM after step 5;"):
        if thread:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(TRAININGS[name], tmp_path, teacher, progress=stop).result()
        else:
            TRAININGS[name](tmp_path, teacher, progress=stop)
    steps: list[int] = []
    TRAININGS[name](tmp_path, teacher, progress=lambda at: steps.append(at.step))
    assert steps[0] == 6
    assert_equal_runs(tmp_path, undisturbed / name)


@every_training
def test_a_step_without_a_finite_gradient_is_left_out_and_many_end_it(
    name: str, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sick = {2}
    update = Updater.update

    def spoilt(self: Updater[Any], step: int, *given: Any) -> Any:
        if step in sick:
            loss = self._module.objective.loss
            monkeypatch.setattr(
                self._module.objective, "loss", lambda *inputs: tuple(part * torch.nan for part in loss(*inputs))
            )
        try:
            return update(self, step, *given)
        finally:
            if step in sick:
                monkeypatch.setattr(self._module.objective, "loss", loss)

    monkeypatch.setattr(Updater, "update", spoilt)
    found = TRAININGS[name](tmp_path / "one", undisturbed / "summarizer")
    assert found["skipped_steps"] == 1
    assert [line["step"] for line in read_metrics(tmp_path / "one" / "metrics.jsonl") if line["kind"] == "train"][
        :2
    ] == [1, 3]
    sick |= set(range(1, 11))
    with pytest.raises(TrainingError, match=r"no finite gradient in 10 steps in a row, up to step 10 at a learning"):
        TRAININGS[name](tmp_path / "many", undisturbed / "summarizer")
