"""Where a model is put, and on how many GPUs."""

import logging

import pytest
import torch

from models.training.distributed import find_device, process_count


def test_a_device_that_is_not_there_is_named() -> None:
    assert find_device("cpu").type == "cpu"
    for name in ("toaster", "cuda:77"):
        with pytest.raises(ValueError, match=f"device '{name}' is not available .*: expected auto, cpu, cuda"):
            find_device(name)


@pytest.mark.parametrize(
    ("processes", "accumulation", "chosen", "said"),
    [
        (None, 4, 4, ["training on 4 of 6 GPUs: an update has 4 batches (training.accumulation)"]),
        (None, 6, 6, []),
        (None, 1, 1, ["training on 1 of 6 GPUs: an update has 1 batches (training.accumulation)"]),
        (3, 6, 3, []),  # fewer than there are, as asked
        (6, 6, 6, []),
        (12, 12, 6, ["training on 6 GPUs of this machine, not in 12 processes (training.processes)"]),
    ],
)
def test_gpus_left_idle_are_warned_of(
    processes: int | None,
    accumulation: int,
    chosen: int,
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("models.training.distributed.find_device", lambda name: torch.device("cuda"))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 6)
    with caplog.at_level(logging.WARNING, "models.training.distributed"):
        assert process_count(processes, accumulation, "auto") == chosen
    assert caplog.messages == said
