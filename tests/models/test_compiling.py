"""A training step is one graph for `torch.compile`, made at most twice however the shapes of batches differ."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from models.layers.paragraphs import SourceBatch
from models.training.batches import Batch, Position
from models.training.token_objective import TokenObjective
from tests.models.systems import batch, target, tiny

SIZES = ((2, 4, 8, 7), (4, 3, 7, 9), (3, 5, 6, 8))  # articles, paragraphs, tokens, target tokens


@pytest.fixture(autouse=True)
def _fresh_compiler() -> Iterator[None]:
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    yield
    torch._dynamo.reset()


def inputs(objective: TokenObjective, size: tuple[int, int, int, int]) -> tuple[SourceBatch, Tensor, Tensor]:
    articles, paragraphs, tokens, length = size
    source = batch(0, articles, paragraphs, tokens)
    made = Batch(source, target(0, articles, length), articles, 0, source.tokens.numel(), Position())
    return objective.inputs(made, torch.device("cpu"))


@pytest.mark.integration
@pytest.mark.parametrize(
    ("preset", "copying"),
    [
        ("ht-small", True),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("ft-small", False),
                ("pht-small", False),
                ("vht-small", False),
                ("graphsum-small", True),
                ("hed-small", False),
            )
        ),
    ],
)
def test_a_step_is_one_graph_and_is_seldom_made_anew(preset: str, copying: bool) -> None:
    model = tiny(preset, dropout=0.1, **({"copying": True} if copying else {})).train()
    objective = TokenObjective(model, batch_tokens=100)
    compiled = torch.compile(objective.loss, dynamic=True, fullgraph=True, backend="eager")
    for size in SIZES:
        compiled(*inputs(objective, size))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] <= 2


@pytest.mark.slow
def test_a_compiled_step_computes_what_a_plain_one_does() -> None:
    objective = TokenObjective(tiny("ht-small", copying=True, dropout=0.0).train(), batch_tokens=100)
    compiled = torch.compile(objective.loss, dynamic=True, fullgraph=True, backend="eager")
    read = inputs(objective, SIZES[0])
    torch.testing.assert_close(compiled(*read), objective.loss(*read))
