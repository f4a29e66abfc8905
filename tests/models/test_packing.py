"""Tokens without padding: there and back, and a layer over them equal to the same layer over one row at a time."""

import pytest
import torch

from models.hierarchical import FlatConfig
from models.layers.paragraphs import Packing
from models.layers.transformer import EncoderLayer

MASK = torch.tensor([[True, True, False, False], [True, True, True, True], [False] * 4, [True, False, True, False]])


@pytest.fixture(autouse=True)
def _seeded(float64: None) -> None:
    torch.manual_seed(0)


def test_tokens_are_taken_row_after_row_and_laid_back_among_zeros() -> None:
    packing = Packing.of(MASK)
    cells = torch.arange(1, 17).view(4, 4)
    packed = packing.pack(cells)
    assert packed.tolist() == [1, 2, 5, 6, 7, 8, 13, 15]
    assert packing.pad(packed).tolist() == [[1, 2, 0, 0], [5, 6, 7, 8], [0, 0, 0, 0], [13, 0, 15, 0]]


def test_rows_without_any_token() -> None:
    packing = Packing.of(torch.zeros(2, 3, dtype=torch.bool))
    assert packing.pack(torch.randn(2, 3, 5)).shape == (0, 5)
    assert packing.pad(torch.empty(0, 5)).eq(0).all()


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_layer_on_packed_tokens_is_the_layer_on_each_row_alone_with_the_same_gradients(norm: str) -> None:
    layer = EncoderLayer(FlatConfig(9, model_size=8, feed_forward_size=12, heads=2, norm=norm, dropout=0.0))
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.5)  # biases of zero would hide a token that is padding
    packing = Packing.of(MASK)
    x = torch.randn(int(MASK.sum()), 8, requires_grad=True)
    weights = torch.randn_like(x)
    found = layer(x, packing)
    gradients = torch.autograd.grad((found * weights).sum(), [x, *layer.parameters()])

    rows = [row for row in x.split(MASK.sum(dim=1).tolist()) if len(row)]
    alone = torch.cat([layer(row, Packing.of(torch.ones(1, len(row), dtype=torch.bool))) for row in rows])
    torch.testing.assert_close(found, alone, atol=1e-10, rtol=0)
    expected = torch.autograd.grad((alone * weights).sum(), [x, *layer.parameters()])
    for gradient, other in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient, other, atol=1e-10, rtol=0)
