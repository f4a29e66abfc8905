"""Bytes of living tensors, on sums small enough to be done by hand."""

import torch

from models.training.live_memory import LiveBytes

FLOAT = 4


def test_a_storage_lives_as_long_as_any_tensor_holds_it() -> None:
    with LiveBytes() as memory:
        tensor = torch.zeros(1000)
        view = tensor.view(10, 100)
        assert memory.now == 1000 * FLOAT
        more = view + 1
        assert memory.now == 2000 * FLOAT
        del more, tensor
        assert memory.now == 1000 * FLOAT
        del view
    assert (memory.now, memory.peak) == (0, 2000 * FLOAT)


def test_what_backward_needs_and_makes_is_counted() -> None:
    weight = torch.ones(10, 10, requires_grad=True)
    with LiveBytes([weight]) as memory:
        result = weight.exp().sum()
        # exp keeps its result for backward; the sum is one number.
        assert memory.now == (100 + 100 + 1) * FLOAT
        result.backward()
        assert memory.now == (100 + 100 + 1) * FLOAT  # what exp kept is gone, the gradient is there
        assert memory.peak >= (100 + 100 + 1 + 100) * FLOAT


def test_a_tensor_known_before_counts_once() -> None:
    tensor = torch.zeros(8)
    with LiveBytes([tensor, tensor[:4]]) as memory:
        assert memory.now == 8 * FLOAT
        tensor.add_(1)
        assert memory.now == 8 * FLOAT
