"""Where the tokens of a batch are: found once, on the CPU, so that no operation of a training step waits for a GPU."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from models.layers.paragraphs import ParagraphRows, change_tensors
from models.training.batches import Batch, Position
from models.training.state import pinned_for
from models.training.token_objective import TokenObjective
from tests.models.systems import PAD, batch, target, tiny

# The host reads numbers or shapes off the device in these.
WAITING = {"nonzero", "_local_scalar_dense", "masked_select", "bincount", "_unique2", "equal"}


class Waits(TorchDispatchMode):
    """Notes the operations for which a host would wait, on whatever device they run."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, called: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = called.name().removeprefix("aten::").partition(".")[0]
        chosen = args[1] if name in ("index", "index_put", "index_put_", "_index_put_impl_") else ()
        if name in WAITING or any(index is not None and index.dtype == torch.bool for index in chosen):
            self.names.append(name)
        return called(*args, **(kwargs or {}))


def training_batch() -> Batch:
    source, tokens = batch(), target()
    tokens[0, 5:] = PAD
    return Batch(source, tokens, 3, int(source.token_mask.sum()), source.tokens.numel(), Position())


@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("preset", ["ht-small", "ft-small", "pht-small", "vht-small", "graphsum-small"])
def test_no_operation_of_a_step_waits_for_the_device(preset: str, copying: bool) -> None:
    model = tiny(preset, copying=copying, dropout=0.1).train()
    objective = TokenObjective(model, batch_tokens=100)
    inputs = objective.inputs(training_batch(), torch.device("cpu"))
    with Waits() as waits:
        objective.loss(*inputs)[0].backward()
    assert waits.names == []
    with Waits() as waits:  # the places of a batch that moves nowhere are found by operations that wait
        objective.loss(replace(inputs[0]), inputs[1])
    assert waits.names


def test_what_was_found_moves_with_a_batch() -> None:
    moved = batch().to("meta")
    assert (moved.rows.tokens.is_meta, moved.rows.places.cell.is_meta) == (True, True)
    whole = training_batch()
    _ = whole.source.rows, whole.predicted
    changed = change_tensors(whole, lambda tensor: tensor + 1)
    assert torch.equal(changed.predicted, whole.predicted + 1)
    assert torch.equal(changed.source.rows.column, whole.source.rows.column + 1)


def test_a_changed_batch_has_other_places() -> None:
    source = batch()
    whole = source.rows.places
    without = replace(source, tokens=source.tokens.masked_fill(torch.arange(6) >= 4, PAD)).rows.places
    assert (len(whole.cell), whole.longest) == (12 + 3 + 1 + 2 * 6 + 24, 24)
    assert (len(without.cell), without.longest) == (8 + 3 + 1 + 2 * 4 + 16, 16)


def test_tokens_of_a_packing_are_joined_as_those_in_rows_are() -> None:
    rows = ParagraphRows.of(batch(), PAD)
    x_MD = torch.randn(int(rows.mask.sum()), 8)
    joined, flat = rows.joined(x_MD), rows.flat(rows.packing.pad(x_MD))
    assert torch.equal(joined.values, flat.values)
    assert torch.equal(joined.mask, flat.mask)
    assert torch.equal(joined.paragraph, flat.paragraph)
    assert torch.equal(flat.mask.flatten().nonzero().squeeze(1), joined.packing.cell)


@pytest.mark.parametrize("limit", [1, 5, 16, 23, 24, 40])
def test_the_first_tokens_of_each_article(limit: int) -> None:
    rows = ParagraphRows.of(batch(), PAD)
    first, every = rows.flat(rows.tokens, limit), rows.flat(rows.tokens)
    for article in range(3):
        expected = every.values[article][every.mask[article]][:limit]
        assert torch.equal(first.values[article][first.mask[article]], expected)
        assert torch.equal(first.mask[article], torch.arange(first.mask.shape[1]) < len(expected))


def test_batches_are_pinned_for_a_gpu_alone() -> None:
    class Noting:
        source_tokens = padded_tokens = 0
        following = Position()

        def pin_memory(self) -> "Noting":
            pinned.append(self)
            return self

    pinned: list[Noting] = []
    items = [Noting(), Noting()]

    def ahead(device: str) -> Iterator[Noting]:
        return pinned_for(torch.device(device), iter(items))

    assert list(ahead("cpu")) == items
    assert pinned == []
    assert list(ahead("cuda")) == items == pinned
