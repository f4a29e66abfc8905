"""A run that is killed, stopped or shared by processes learns what an undisturbed one learns, bit for bit."""

import json
import logging
import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from models.training.batches import BatchStream, prefetch
from models.training.checkpoints import append_metrics, load_checkpoint, read_metrics, truncate_metrics
from models.training.distributed import Ranks, process_group
from models.training.state import TrainerSettings, TrainingError, TrainingProgress, TrainingStopped, constant
from models.training.stopping import stop_trainings
from models.training.token_objective import TokenObjective
from models.training.trainer import Trainer, Updater
from models.weights_file import load_weights
from tests.models.training.training_run import LAYOUT, tiny_model, tiny_shards, train
from tests.patience import output_of

pytestmark = pytest.mark.integration

PROGRAM = Path(__file__).with_name("training_run.py")
ROOT = PROGRAM.parents[3]


def _start(*arguments: Any, **variables: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAM), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def _timeless(directory: Path) -> list[dict[str, Any]]:
    records = read_metrics(directory / "metrics.jsonl")
    return [{k: v for k, v in record.items() if "second" not in k} for record in records]


def _assert_equal_runs(one: Path, other: Path) -> None:
    assert _timeless(one) == _timeless(other)
    files = sorted(path.relative_to(one) for path in one.rglob("*.safetensors"))
    assert files == sorted(path.relative_to(other) for path in other.rglob("*.safetensors"))
    assert len(files) > 4
    for file in [*files, "best.json"]:
        assert (one / file).read_bytes() == (other / file).read_bytes(), file


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("undisturbed")
    train(directory)
    return directory


def test_a_run_learns_and_leaves_a_whole_model_directory(undisturbed: Path) -> None:
    records = read_metrics(undisturbed / "metrics.jsonl")
    assert [(r["kind"], r["step"]) for r in records] == [
        ("train", 3),
        ("validation", 4),
        ("train", 6),
        ("validation", 8),
        ("train", 9),
        ("train", 12),
        ("validation", 12),
    ]
    first, last = records[0], records[-2]
    assert last["loss"] < first["loss"]
    assert 0 < last["nll"] < last["loss"]
    assert 0 <= last["padding"] < 1
    best = json.loads((undisturbed / "best.json").read_text())
    validated = sorted((r["nll"], r["step"]) for r in records if r["kind"] == "validation")
    assert [(entry["score"], entry["step"]) for entry in best] == validated[:2]
    exported = tiny_model()
    load_weights(exported, undisturbed / "model.safetensors")
    checkpoint = load_checkpoint(undisturbed / best[0]["checkpoint"])
    assert (checkpoint.path / "model.safetensors").read_bytes() == (undisturbed / "model.safetensors").read_bytes()


def test_a_killed_run_started_again_ends_where_an_undisturbed_one_does(undisturbed: Path, tmp_path: Path) -> None:
    killed = _start(tmp_path, "--kill-at", 6, 9)
    out, errors = output_of(killed)
    assert out.split("\n") == ["3", "4", "6", "exit -9", "3", "4", "6", "8", "9", "exit -9", ""], errors
    for step in ("6", "9"):
        assert train(tmp_path / step).finished
        _assert_equal_runs(tmp_path / step, undisturbed)


@pytest.mark.parametrize("step", [6, 8])
def test_a_run_stopped_by_sigterm_saves_and_goes_on(step: int, undisturbed: Path, tmp_path: Path) -> None:
    def stop(at: TrainingProgress) -> None:
        if at.step == step:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingStopped, match=f"stopped by SIGTERM after step {step}"):
        train(tmp_path, progress=stop)
    assert sorted(path.name for path in (tmp_path / "checkpoints").glob("step-*"))[-1] == f"step-0000000{step}"
    assert train(tmp_path).finished
    _assert_equal_runs(tmp_path, undisturbed)


def test_a_run_on_a_thread_stops_when_it_is_told(undisturbed: Path, tmp_path: Path) -> None:
    """Signals reach the main thread alone."""

    def stop(at: TrainingProgress) -> None:
        if at.step == 6:
            stop_trainings()

    with ThreadPoolExecutor(1) as pool:
        training = pool.submit(train, tmp_path, progress=stop)
        with pytest.raises(TrainingStopped, match="stopped by SIGTERM after step 6"):
            training.result()
    assert train(tmp_path).finished
    _assert_equal_runs(tmp_path, undisturbed)


def test_a_damaged_checkpoint_is_left_and_the_run_goes_on_from_the_one_before(
    undisturbed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    train(tmp_path, steps=8)
    weights = tmp_path / "checkpoints/step-00000008/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        train(tmp_path)
    assert "step-00000008 is damaged" in caplog.text
    for path in (tmp_path / "checkpoints").glob("damaged-*/*"):
        path.unlink()
    _assert_equal_runs(tmp_path, undisturbed)


def test_a_finished_run_has_nothing_left_to_do_and_can_be_extended(undisturbed: Path, tmp_path: Path) -> None:
    train(tmp_path, steps=8)
    before = (tmp_path / "metrics.jsonl").read_bytes()
    assert train(tmp_path, steps=8).step == 8
    assert (tmp_path / "metrics.jsonl").read_bytes() == before
    assert train(tmp_path, steps=12).step == 12
    assert (tmp_path / "checkpoints/step-00000012/model.safetensors").read_bytes() == (
        undisturbed / "checkpoints/step-00000012/model.safetensors"
    ).read_bytes()


def test_a_directory_of_a_run_with_other_settings_is_refused(tmp_path: Path) -> None:
    train(tmp_path, steps=4)
    with pytest.raises(ValueError, match=r"other settings \(seed\): seed was 1 and is 2"):
        train(tmp_path, fingerprint={"seed": 2})


def _updated(accumulation: int, batch_tokens: int) -> tuple[list[torch.Tensor], float]:
    """The gradient of one update over the first epoch's 27 examples and its norm."""
    updater = _updater(batch_tokens)
    batches, seen = [], 0
    for batch in _stream(batch_tokens).batches():
        batches.append(batch)
        seen += batch.examples
        if seen == 27:
            break
    assert len(batches) >= accumulation
    tokens = sum(int((batch.target[:, 1:] != 0).sum()) for batch in batches)
    norm, _ = updater.update(1, [1e-3], batches, tokens)
    return [p.grad.clone() for p in updater.model.parameters() if p.grad is not None], norm


def _updater(batch_tokens: int, **changes: Any) -> Updater:
    objective = TokenObjective(tiny_model(dropout=0.0), batch_tokens=batch_tokens)
    return Updater(objective, TrainerSettings(steps=1, **changes), Ranks(torch.device("cpu")))


def _stream(batch_tokens: int) -> BatchStream:
    return BatchStream(tiny_shards(), LAYOUT, batch_tokens=batch_tokens, window=10, seed=1)


@pytest.mark.usefixtures("float64")
def test_the_gradient_does_not_depend_on_how_examples_are_cut_into_batches() -> None:
    small, small_norm = _updated(6, 40)
    large, large_norm = _updated(2, 400)
    assert small_norm == pytest.approx(large_norm, rel=1e-9)
    for a, b in zip(small, large, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-7, atol=1e-10)


@pytest.mark.usefixtures("float64")
def test_two_processes_learn_what_one_learns_from_the_same_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process is one of the two; `torchrun` itself starts both in `tests/flows/running/test_torchrun.py`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    together = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    other = _start(tmp_path / "two", "--accumulation", 1, "--dropout", 0, "--float64", **together, RANK="1")
    for name, value in {**together, "RANK": "0"}.items():
        monkeypatch.setenv(name, value)
    with process_group("cpu") as ranks:
        train(tmp_path / "two", ranks=ranks, accumulation=1, model=tiny_model(dropout=0.0))
    _, errors = output_of(other)
    assert other.returncode == 0, errors
    train(tmp_path / "one", accumulation=2, model=tiny_model(dropout=0.0))
    for expected, found in zip(_timeless(tmp_path / "one"), _timeless(tmp_path / "two"), strict=True):
        assert expected.pop("kind") == found.pop("kind")
        assert expected == pytest.approx(found, rel=1e-7)
    one, two = tiny_model(), tiny_model()
    load_weights(one, tmp_path / "one/checkpoints/step-00000012/model.safetensors")
    load_weights(two, tmp_path / "two/checkpoints/step-00000012/model.safetensors")
    for (name, expected), found in zip(one.state_dict().items(), two.state_dict().values(), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-7, atol=1e-9, msg=name)
    positions = [load_checkpoint(tmp_path / n / "checkpoints/step-00000012").state for n in ("one", "two")]
    assert positions[0]["training"]["position"] == positions[1]["training"]["position"]


class _Sick(nn.Module):
    """Wraps a model whose hidden states are not a number at some calls."""

    def __init__(self, sick: set[int]) -> None:
        super().__init__()
        self.inner = tiny_model()
        self.sick, self.calls = sick, 0

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("inner"), name)

    def decode(self, *arguments: Any, **options: Any) -> Any:
        decoded = self.inner.decode(*arguments, **options)
        if self.training:
            self.calls += 1
            if self.calls in self.sick:
                return type(decoded)(decoded.hidden * float("nan"), None)
        return decoded


def test_a_step_without_a_finite_gradient_is_skipped_and_counted(tmp_path: Path) -> None:
    reports: list[TrainingProgress] = []
    result = train(tmp_path, model=_Sick({3}), progress=reports.append, accumulation=1, steps=6)  # type: ignore[arg-type]
    assert (result.step, result.skipped) == (6, 1)
    assert reports[0].skipped == 1
    assert reports[0].figures["loss"] < 10
    records = read_metrics(tmp_path / "metrics.jsonl")
    assert records[0]["gradient_norm"] is None  # step 3, the one that was logged
    assert records[-1]["nll"] > 0


def test_training_gives_up_after_many_such_steps_in_a_row(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match=r"no finite gradient in 3 steps in a row, up to step 5 .* lower the learn"):
        train(tmp_path, model=_Sick({1, 3, 4, 5}), accumulation=1, max_skipped=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_out_of_memory_names_the_setting(tmp_path: Path, error: RuntimeError, monkeypatch) -> None:
    model = tiny_model()

    def encode(source: object) -> None:
        raise error

    monkeypatch.setattr(model, "encode", encode)
    with pytest.raises(TrainingError, match=r"lower batch_tokens \(now 48\) and raise accumulation"):
        train(tmp_path, model=model)


def test_bfloat16_computes_in_it_and_keeps_float32_weights() -> None:
    batch = next(_stream(48).batches())
    exact = _updater(48).losses(batch)
    updater = _updater(48, precision="bfloat16")
    rough = updater.losses(batch)
    assert rough != exact
    assert rough == pytest.approx(exact, rel=0.05)
    assert math.isfinite(updater.update(1, [1e-3], [batch], 10.0)[0])
    assert {p.dtype for p in updater.model.parameters()} == {torch.float32}


def test_clipping_bounds_the_gradient_that_is_applied() -> None:
    updater = _updater(48, clip_norm=0.01)
    batch = next(_stream(48).batches())
    norm, _ = updater.update(1, [1e-3], [batch], 1.0)
    applied = torch.nn.utils.get_total_norm([p.grad for p in updater.model.parameters() if p.grad is not None])
    assert norm > 0.01
    assert applied.item() == pytest.approx(0.01, rel=1e-3)


class _Two(Ranks):
    """The first of two processes; the other one counted as many tokens, and took a second longer."""

    def sum(self, values: Sequence[float]) -> list[float]:
        smoothed, nll, tokens, source_tokens, padded_tokens, seconds = values
        return [2 * smoothed, 2 * nll, 2 * tokens, 2 * source_tokens, 2 * padded_tokens, 2 * seconds + 1]


def test_the_rate_is_that_of_all_processes_together(tmp_path: Path) -> None:
    reports: list[TrainingProgress] = []
    objective = TokenObjective(tiny_model(), batch_tokens=48)
    trainer = Trainer(
        objective,
        constant(1e-3),
        TrainerSettings(steps=1),
        tmp_path,
        ranks=Ranks(torch.device("cpu")),
        progress=reports.append,
    )
    trainer.ranks = _Two(torch.device("cpu"), rank=0, world=2)
    trainer.state.window = {
        "loss": 30.0,
        "nll": 20.0,
        "tokens": 10.0,
        "source_tokens": 500.0,
        "padded_tokens": 800.0,
        "seconds": 2.0,
    }
    trainer._log()
    # 1,000 source tokens in 2 and 3 seconds side by side: 2.5 seconds.
    (line,) = read_metrics(tmp_path / "metrics.jsonl")
    assert line["source_tokens_per_second"] == reports[0].tokens_per_second == 400.0
    assert (line["loss"], line["nll"], line["padding"]) == (3.0, 2.0, 0.375)


def test_the_time_budget_ends_a_run_with_a_model(tmp_path: Path) -> None:
    result = train(tmp_path, max_seconds=1e-6)
    assert (result.step, result.finished) == (1, False)
    assert result.best is not None
    assert (tmp_path / "model.safetensors").is_file()
    assert train(tmp_path, max_seconds=1e-6).step == 1


def test_scores_of_the_evaluation_are_logged_and_reported(tmp_path: Path) -> None:
    reports: list[TrainingProgress] = []
    modes: list[bool] = []

    def evaluate(model: nn.Module) -> dict[str, float]:
        modes.append(model.training)
        return {"rouge2": 0.25}

    result = train(tmp_path, steps=4, evaluate=evaluate, progress=reports.append)
    assert result.scores["rouge2"] == 0.25
    assert modes == [False]
    assert read_metrics(tmp_path / "metrics.jsonl")[-1]["rouge2"] == 0.25
    assert reports[-1].validation == reports[-1].best == result.best


def test_metrics_are_cut_back_to_a_step_and_a_torn_line_is_dropped(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    for step in (1, 2, 3):
        append_metrics(log, {"step": step, "loss": float("inf") if step == 2 else 0.5})
    with log.open("a") as file:
        file.write('{"step": 4, "lo')
    truncate_metrics(log, 2)
    assert log.read_text() == '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": null}\n'
    log.write_text('{"step": 1}\nnonsense\n{"step": 2}\n')
    with pytest.raises(ValueError, match=r"metrics\.jsonl:2 is not a JSON line"):
        read_metrics(log)


def test_prefetching_keeps_order_and_hands_errors_on() -> None:
    def items():
        yield from range(20)
        raise ValueError("broken")

    with prefetch(iter(range(50))) as ahead:
        assert list(ahead) == list(range(50))
    with prefetch(items()) as ahead:
        seen = []
        with pytest.raises(ValueError, match="broken"):
            for item in ahead:
                seen.append(item)  # noqa: PERF402
    assert seen == list(range(20))


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="accumulation of at least 1, got 0"):
        TrainerSettings(steps=1, accumulation=0)
    with pytest.raises(ValueError, match="got 'float16'"):
        TrainerSettings(steps=1, precision="float16")
