"""Training HT: source tokens a second, padding and peak memory, against its released design.

    python -m benchmarks.training

The released design (`benchmarks/peers/released_ht.py`) is the same model with padded layers, attention weights in
memory and dense smoothed targets, on randomly ordered examples padded by batch; batches have the same budget of padded
tokens. The share of padding is that of the batches; our layers compute on their tokens alone.

Updates, examples, clock and memory are those of `benchmarks.gpu`. Each side runs in a process of its own, in
alternating rounds, and its best round counts. On CUDA the model has the paper's size (d = 256, 32,000 pieces); on the
CPU it is small, on one thread."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from benchmarks.frame import apart, command
from benchmarks.gpu.training import Side
from benchmarks.gpu.workload import SCALES, BenchmarkedSystem
from benchmarks.peers.released_ht import ReleasedHT
from models.hierarchical import HierarchicalTransformer
from models.layers.paragraphs import SourceBatch
from models.training.batches import Batch
from models.training.distributed import Ranks, find_device
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective
from models.training.trainer import Updater

SMOOTHING = 0.1  # Liu & Lapata 2019, sec. 4


class ReleasedObjective(TokenObjective):
    """The loss of the released design, in the same updates."""

    model: ReleasedHT

    def loss(self, source: SourceBatch, target: Tensor, predicted: Tensor | None = None) -> tuple[Tensor, ...]:
        """Return the divergence as loss and measures; no further units."""
        loss = self.model(source, target, self.label_smoothing)
        return loss, loss.detach(), loss.detach(), loss.new_zeros(())


@dataclass(frozen=True)
class ReleasedSide(Side):
    """The released design, on the batches of the plain one."""

    plain: bool = True

    def updater(self, loss: str = "auto") -> Updater[Batch]:
        """Return a fresh model with its optimizer."""
        model = self.system.model()
        assert isinstance(model, HierarchicalTransformer)
        objective = ReleasedObjective(
            ReleasedHT(model.config), batch_tokens=self.system.scale.batch_tokens, label_smoothing=SMOOTHING
        )
        return Updater(objective, TrainerSettings(steps=1), Ranks(self.device))


SIDES = {"ours": Side, "released design": ReleasedSide}


def measure(side: str, device: str) -> dict[str, float]:
    """Train for some updates in this process and return their figures."""
    place = find_device(device)
    if place.type == "cpu":
        torch.set_num_threads(1)
    return SIDES[side](BenchmarkedSystem("HT", SCALES["small" if place.type == "cpu" else "full"]), place).run()


def main(device: str = "auto", rounds: int = 2) -> None:
    """Print one line per side and the ratios."""
    best: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for side in SIDES:
            figures = apart(measure, side, device)
            if side not in best or figures["tokens_per_second"] > best[side]["tokens_per_second"]:
                best[side] = figures
    for side, figures in best.items():
        print(
            f"{side:16}{figures['tokens_per_second']:10,.0f} source tokens/s  padding {figures['padding']:6.1%}  "
            f"peak {figures['peak_bytes'] / 2**20:6,.0f} MB"
        )
    ratios = {name: best["ours"][name] / best["released design"][name] for name in ("tokens_per_second", "peak_bytes")}
    print("ours / released design: {tokens_per_second:.2f} x the speed, {peak_bytes:.2f} x the memory".format(**ratios))


if __name__ == "__main__":
    command(main, __doc__)
