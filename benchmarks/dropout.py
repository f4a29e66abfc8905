"""Dropout on a CPU, beside PyTorch's own: a forward and a backward pass over the inner layer of a small summarizer.

    python -m benchmarks.dropout

Both in turn, round after round, on one thread; the fastest round of each counts, in seconds of the processor.
"""

import time

import torch
from torch import nn

from models.layers.dropout import Dropout

SHAPE = (60, 56, 512)  # paragraphs, tokens, inner size: a batch of the preset `miniweb`
ROUNDS, PASSES = 5, 20


def seconds(dropout: nn.Module, x: torch.Tensor) -> float:
    """Return the seconds of a forward and a backward pass."""
    started = time.process_time()
    for _ in range(PASSES):
        dropout(x).sum().backward()
    return (time.process_time() - started) / PASSES


def main() -> None:
    """Print both, and their ratio."""
    torch.set_num_threads(1)
    x = torch.randn(SHAPE, requires_grad=True)
    sides = {"ours": Dropout(0.1), "torch.nn.Dropout": nn.Dropout(0.1)}
    best = dict.fromkeys(sides, float("inf"))
    for _ in range(ROUNDS):
        for name, side in sides.items():
            best[name] = min(best[name], seconds(side, x))
    for name, found in best.items():
        print(f"{name:<18} {1e3 * found:6.2f} ms")
    print(f"ratio              {best['torch.nn.Dropout'] / best['ours']:6.2f} x")


if __name__ == "__main__":
    main()
