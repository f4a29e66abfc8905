"""Checkpoints come back bit for bit, damage is found, and the right ones are kept."""

import json
import logging
from pathlib import Path

import pytest
import torch
from torch import nn

from models.training.checkpoints import CheckpointError, Checkpoints, check_same_run, load_checkpoint
from models.weights_file import load_weights, save_weights


class Tied(nn.Module):
    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.embedding = nn.Embedding(7, 4)
        self.output = nn.Linear(4, 7)
        self.output.weight = self.embedding.weight
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3).T)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.output(self.embedding(tokens))


def _step(model: nn.Module, optimizer: torch.optim.Optimizer, number: int) -> None:
    torch.manual_seed(number)
    optimizer.zero_grad()
    model(torch.randint(0, 7, (5,))).square().mean().backward()
    optimizer.step()


@pytest.mark.parametrize("kind", ["adam", "adagrad"])
def test_a_restored_run_goes_on_as_if_it_had_never_stopped(tmp_path: Path, kind: str) -> None:
    def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
        if kind == "adam":
            return torch.optim.Adam(model.parameters(), lr=0.1, betas=(0.9, 0.998))
        return torch.optim.Adagrad(model.parameters(), lr=0.15)

    model = Tied()
    optimizer = optimizer_of(model)
    _step(model, optimizer, 1)
    Checkpoints(tmp_path).save(1, model, optimizer, {"position": [0, 3, 1]})
    _step(model, optimizer, 2)
    expected = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    other = Tied(seed=9)
    again = optimizer_of(other)
    checkpoint = Checkpoints(tmp_path).latest()
    assert checkpoint is not None
    assert (checkpoint.step, checkpoint.state, checkpoint.score) == (1, {"position": [0, 3, 1]}, None)
    checkpoint.restore(other, again)
    _step(other, again, 2)
    for name, tensor in other.state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    assert again.param_groups[0]["lr"] == optimizer.param_groups[0]["lr"]


def test_equal_runs_write_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        model = Tied()
        optimizer = torch.optim.Adam(model.parameters())
        _step(model, optimizer, 1)
        Checkpoints(tmp_path / name).save(1, model, optimizer, {"b": 1, "a": 2.5}, score=0.5)
    for file in ("model.safetensors", "optimizer.safetensors"):
        assert (tmp_path / "a/step-00000001" / file).read_bytes() == (tmp_path / "b/step-00000001" / file).read_bytes()


def test_tied_weights_are_stored_once_and_stay_tied(tmp_path: Path) -> None:
    save_weights(Tied(), tmp_path / "w.safetensors")
    assert (tmp_path / "w.safetensors").stat().st_size < 2 * 7 * 4 * 4 + 7 * 4 + 6 * 4 + 400
    other = Tied(seed=5)
    load_weights(other, tmp_path / "w.safetensors")
    assert torch.equal(other.output.weight, Tied().embedding.weight)
    assert other.output.weight is other.embedding.weight
    assert torch.equal(other.table, torch.arange(6.0).reshape(2, 3).T)


def test_weights_of_another_architecture_are_refused(tmp_path: Path) -> None:
    save_weights(nn.Linear(3, 2), tmp_path / "w.safetensors")
    with pytest.raises(ValueError, match=r"another architecture: 1 tensors differ, first weight: expected \(2, 4\)"):
        load_weights(nn.Linear(4, 2), tmp_path / "w.safetensors")
    (tmp_path / "w.safetensors").write_bytes(b"\x10")
    with pytest.raises(ValueError, match="not a readable safetensors file"):
        load_weights(nn.Linear(3, 2), tmp_path / "w.safetensors")


def test_weights_that_are_not_finite_are_refused_and_nothing_is_loaded(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    model.weight.data[1, 2] = float("nan")
    save_weights(model, tmp_path / "w.safetensors")
    other = nn.Linear(3, 2)
    before = other.weight.clone()
    with pytest.raises(ValueError, match=r"expected finite numbers in weight of .*w.safetensors, got 1 of 6 that are"):
        load_weights(other, tmp_path / "w.safetensors")
    assert torch.equal(other.weight, before)


def _saved(tmp_path: Path, scores: dict[int, float | None], **keep: int) -> Checkpoints:
    checkpoints = Checkpoints(tmp_path, **keep)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    for step, score in scores.items():
        checkpoints.save(step, model, optimizer, {}, score=score)
    return checkpoints


def test_the_last_two_and_the_best_are_kept(tmp_path: Path) -> None:
    _saved(tmp_path, {10: 3.0, 20: 1.0, 30: 2.0, 40: 2.0, 50: 9.0, 60: None}, keep_best=2)
    assert sorted(p.name for p in tmp_path.glob("step-*")) == [f"step-000000{n}" for n in (20, 30, 50, 60)]
    assert json.loads((tmp_path / "best.json").read_text()) == [
        {"step": 20, "score": 1.0, "checkpoint": "step-00000020"},
        {"step": 30, "score": 2.0, "checkpoint": "step-00000030"},
    ]


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("damage", [_flip, _truncate, Path.unlink])
def test_damage_is_found_and_the_checkpoint_before_is_used(tmp_path, file, damage, caplog) -> None:
    checkpoints = _saved(tmp_path, {1: None, 2: None})
    damage(tmp_path / "step-00000002" / file)
    with pytest.raises(CheckpointError, match=file.replace(".", r"\.")):
        load_checkpoint(tmp_path / "step-00000002")
    with caplog.at_level(logging.WARNING):
        latest = checkpoints.latest()
    assert latest is not None
    assert latest.step == 1
    assert "step-00000002 is damaged" in caplog.text
    assert "the checkpoint before it is used" in caplog.text
    assert sorted(p.name for p in tmp_path.glob("*step-*")) == ["damaged-step-00000002", "step-00000001"]


def test_a_run_goes_back_before_the_first_damaged_checkpoint(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Going on behind it, the best of the run would be others than those of an undisturbed one."""
    checkpoints = _saved(tmp_path, {1: 3.0, 2: 1.0, 3: 2.0, 4: 5.0})
    _flip(tmp_path / "step-00000002" / "model.safetensors")
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.step == 1
    assert "moved to damaged-step-00000002 with 2 after it, the checkpoint before it is used" in caplog.text
    checkpoints.list_best()
    assert [entry["step"] for entry in json.loads((tmp_path / "best.json").read_text())] == [1]


def test_nothing_is_found_in_an_empty_directory_and_half_written_ones_are_cleared(tmp_path: Path) -> None:
    half = tmp_path / ".writing-step-00000003"
    half.mkdir()
    (half / "model.safetensors").write_bytes(b"x")
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.latest() is None
    checkpoints.clear_unfinished()
    assert not half.exists()


def test_a_step_saved_again_replaces_the_old_one(tmp_path: Path) -> None:
    checkpoints = _saved(tmp_path, {1: 5.0})
    model = nn.Linear(1, 1)
    checkpoints.save(1, model, torch.optim.SGD(model.parameters(), lr=1.0), {"again": True}, score=4.0)
    latest = checkpoints.latest()
    assert latest is not None
    assert (latest.state, latest.score) == ({"again": True}, 4.0)


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        ({"seed": 1}, {"seed": 2}, r"other settings \(seed\): seed was 1 and is 2"),
        ({"seed": 1}, {"seed": 1, "copying": True}, r"\(copying\): copying was None and is True"),
        ({"seed": 1, "dropout": 0.1}, {"seed": 1}, r"\(dropout\): dropout was 0.1 and is None"),
        ({"b": 1}, {"a": 1}, r"\(a, b\): a was None and is 1"),
    ],
)
def test_a_run_goes_on_only_with_the_settings_it_began_with(before, now, said) -> None:
    """A setting that only one side has differs too."""
    with pytest.raises(ValueError, match=said):
        check_same_run(Path("models/run"), before, now)


def test_a_setting_that_is_missing_counts_as_none() -> None:
    check_same_run(Path("models/run"), {"seed": 1}, {"seed": 1, "copying": None})
