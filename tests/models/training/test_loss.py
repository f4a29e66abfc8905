"""The three ways to the loss agree with the formula, with each other, and in their gradients."""

import math

import pytest
import torch
from torch import Tensor, nn

from models.training import token_objective as module
from models.training.token_objective import HAS_FUSED, token_loss


class Output(nn.Module):
    """The part of a summarizer that a loss needs."""

    def __init__(self, size: int, vocabulary: int, *, bias: bool = True) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.linear = nn.Linear(size, vocabulary, bias=bias)

    def logits(self, hidden: Tensor) -> Tensor:
        return self.linear(hidden)

    def projection(self) -> tuple[Tensor, Tensor | None]:
        return self.linear.weight, self.linear.bias


def test_the_value_of_a_token_worked_out_by_hand() -> None:
    output = Output(1, 4)
    with torch.no_grad():
        output.linear.weight.copy_(torch.tensor([[0.0], [math.log(2)], [math.log(3)], [math.log(4)]]))
        output.linear.bias.zero_()
    # Probabilities .1 .2 .3 .4; the second position is padding.
    loss = token_loss(output, torch.ones(1, 2, 1), torch.tensor([[3, 0]]), pad=0, smoothing=0.1, method="plain")
    assert loss.nll.item() == pytest.approx(-math.log(0.4), abs=1e-6)
    even = -(math.log(0.1) + math.log(0.2) + math.log(0.3) + math.log(0.4)) / 4
    assert loss.smoothed.item() == pytest.approx(0.9 * -math.log(0.4) + 0.1 * even, abs=1e-6)


WAYS = ["chunked", pytest.param("fused", marks=pytest.mark.skipif(not HAS_FUSED, reason="PyTorch before 2.13"))]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.usefixtures("float64")
def test_every_way_agrees_with_the_plain_one(way: str, smoothing: float, bias: bool, monkeypatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 5)

    def run(way: str) -> list[Tensor]:
        output = Output(6, 11, bias=bias)
        torch.manual_seed(2)
        hidden = torch.randn(3, 7, 6, requires_grad=True)
        target = torch.randint(0, 11, (3, 7))
        loss = token_loss(output, hidden, target, pad=0, smoothing=smoothing, method=way)
        (loss.smoothed * 0.25).backward()
        assert not loss.nll.requires_grad
        assert hidden.grad is not None
        return [loss.smoothed.detach(), loss.nll, hidden.grad, *(p.grad for p in output.parameters())]

    for expected, found in zip(run("plain"), run(way), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.skipif(not HAS_FUSED, reason="PyTorch before 2.13")
def test_the_fused_way_agrees_under_bfloat16_autocast() -> None:
    output = Output(16, 50)
    torch.manual_seed(2)
    hidden, target = torch.randn(4, 9, 16), torch.randint(1, 50, (4, 9))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        plain = token_loss(output, hidden, target, pad=0, smoothing=0.1, method="plain")
        fused = token_loss(output, hidden, target, pad=0, smoothing=0.1, method="fused")
    torch.testing.assert_close(fused.smoothed, plain.smoothed, rtol=1e-2, atol=0)
    torch.testing.assert_close(fused.nll, plain.nll, rtol=1e-2, atol=0)


@pytest.mark.parametrize("way", WAYS)
def test_many_tokens_are_summed_in_float32_under_bfloat16_autocast(way: str) -> None:
    """A bfloat16 sum stops counting after a few hundred terms of its own size; the reference is of float64."""
    torch.manual_seed(2)
    hidden, drawn = torch.randn(1, 40_000, 16), torch.randint(1, 50, (1, 40_000))
    target = (drawn**2 // 50).clamp_min(1)  # some tokens are frequent, so that their biases have much to learn

    def run(way: str, dtype: torch.dtype) -> list[Tensor]:
        output = Output(16, 50).to(dtype)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.float32):
            loss = token_loss(output, hidden.to(dtype), target, pad=0, smoothing=0.1, method=way)
        (loss.smoothed / 40_000).backward()
        return [loss.smoothed.detach(), loss.nll, *(p.grad for p in output.parameters())]

    expected, found = run("plain", torch.float64), run(way, torch.float32)
    distances = [float((one - other).norm() / other.norm()) for one, other in zip(found, expected, strict=True)]
    assert [part.dtype for part in found] == [torch.float32] * 4
    assert max(distances[:2]) < 1e-3, distances
    assert max(distances[2:]) < 4e-3, distances


def test_padding_gets_no_gradient() -> None:
    hidden = torch.randn(1, 3, 4, requires_grad=True)
    loss = token_loss(Output(4, 5), hidden, torch.tensor([[1, 0, 2]]), pad=0, smoothing=0.1)
    loss.smoothed.backward()
    assert hidden.grad is not None
    assert hidden.grad[0, 1].abs().max() == 0
    assert hidden.grad[0, 0].abs().max() > 0


def test_a_way_that_cannot_be_gone_is_an_error(monkeypatch) -> None:
    hidden, target = torch.randn(1, 2, 4), torch.tensor([[1, 2]])
    with pytest.raises(ValueError, match="got 'fast'"):
        token_loss(Output(4, 5), hidden, target, pad=0, smoothing=0.1, method="fast")
    within = token_loss(Output(4, 5), hidden, target, pad=0, smoothing=0.1)
    monkeypatch.setattr(module, "HAS_FUSED", False)  # PyTorch before 2.13
    with pytest.raises(ValueError, match="the fused loss needs"):
        token_loss(Output(4, 5), hidden, target, pad=0, smoothing=0.1, method="fused")
    without = token_loss(Output(4, 5), hidden, target, pad=0, smoothing=0.1)
    torch.testing.assert_close(without.smoothed, within.smoothed)
