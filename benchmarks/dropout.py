"""Dropout on a CPU, beside PyTorch's own: a forward and a backward pass over the inner layer of a small summarizer.

    python -m benchmarks.dropout

Both in turn, round after round, on one thread; the fastest round of each counts, in seconds of the processor.
"""

import time
from functools import partial

import torch
from torch import nn

from benchmarks.frame import command, fastest
from models.layers.dropout import Dropout

SHAPE = (60, 56, 512)  # paragraphs, tokens, inner size: a batch of the preset `miniweb`
ROUNDS, PASSES = 5, 20


def passes(dropout: nn.Module, x: torch.Tensor) -> None:
    """Run some forward and backward passes."""
    for _ in range(PASSES):
        dropout(x).sum().backward()


def main() -> None:
    """Print both, and their ratio."""
    torch.set_num_threads(1)
    x = torch.randn(SHAPE, requires_grad=True)
    sides = {"ours": Dropout(0.1), "torch.nn.Dropout": nn.Dropout(0.1)}
    best = fastest({name: partial(passes, side, x) for name, side in sides.items()}, ROUNDS, time.process_time)
    for name, found in best.items():
        print(f"{name:<18} {1e3 * found / PASSES:6.2f} ms")
    print(f"ratio              {best['torch.nn.Dropout'] / best['ours']:6.2f} x")


if __name__ == "__main__":
    command(main, __doc__)
