"""Training HT: source tokens per second, padding and peak memory, against the released design and two variants of ours.

    python -m benchmarks.training

The released design (`benchmarks/peers/released_ht.py`) is the same model with padded layers, attention weights in
memory and dense smoothed targets, on randomly ordered examples padded by batch. The variant of the batches is our model
on those batches; the variant of the loss is our training with all logits computed at once. All batches have the same
budget of padded tokens. The share of padding is that of the batches; our layers compute on their tokens alone.

Examples are drawn with lengths like those of WikiSum (Liu & Lapata 2019, sec. 4): about 70 tokens per paragraph, leads
of 140, up to 40 ranked paragraphs. Tokens are those of the source without padding. Each side runs in a separate
process, in alternating rounds, and its best round counts. On CUDA the model has the paper's size (d = 256, 32,000
pieces); on the CPU it is small, on one thread, and seconds are processor time, so that other load on the machine does
not matter.
"""

import time
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from benchmarks.frame import apart, command, peak_bytes
from benchmarks.gpu.machine import finish
from benchmarks.peers.released_ht import ReleasedHT
from models.contract import SourceBatch
from models.hierarchical import HierarchicalTransformer
from models.registry import build_summarizer
from models.training.batches import Batch, BatchStream, Position, TableShards, lay_out
from models.training.distributed import Ranks, find_device
from models.training.layout import ExampleTable, Layout
from models.training.schedule import noam
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective
from models.training.update import Updater

SIDES = ("ours", "released design", "random order", "all logits")
SMOOTHING = 0.1  # Liu & Lapata 2019, sec. 4
ROUNDS = 2
PAD, TITLE_MARK, FIRST = 0, 4, 7


def examples(count: int, pieces: int, seed: int = 0) -> pa.Table:
    """Draw examples: lengths are log-normal, a third of the articles have fewer than 24 paragraphs."""
    random = np.random.default_rng(seed)
    tokens = pa.list_(pa.int32())

    def lists(lengths: np.ndarray) -> pa.Array:
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        values = random.integers(FIRST, pieces, offsets[-1], dtype=np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))

    # Truncated to 100 tokens each, the best 24 paragraphs have about 1,600 tokens, as in Liu & Lapata 2019, sec. 4.
    paragraphs = np.clip(random.lognormal(3.4, 0.7, count), 1, 40).astype(int)
    lengths = np.clip(random.lognormal(np.log(75), 0.5, paragraphs.sum()), 3, 400).astype(int)
    offsets = np.concatenate([[0], np.cumsum(paragraphs)]).astype(np.int32)
    columns = {
        "title": lists(random.integers(1, 8, count)),
        "source": pa.ListArray.from_arrays(pa.array(offsets), lists(lengths)),
        "target": lists(np.clip(random.lognormal(np.log(140) - 0.18, 0.6, count), 10, 400).astype(int)),
    }
    return pa.table(columns, schema=pa.schema({"title": tokens, "source": pa.list_(tokens), "target": tokens}))


def random_batches(table: pa.Table, layout: Layout, batch_tokens: int) -> Iterator[Batch]:
    """Cut randomly ordered examples into batches that fit the same budget, padded to the longest of each."""
    rows = ExampleTable(table, layout)
    shapes = rows.shapes()
    batch: list[int] = []
    for row in np.random.default_rng(1).permutation(len(rows)).tolist():
        paragraphs, longest, target = shapes[[*batch, row]].max(axis=0)
        if batch and (len(batch) + 1) * max(paragraphs * longest, target) > batch_tokens:
            yield lay_out(rows, np.array(batch), Position())
            batch = []
        batch.append(row)


class ReleasedObjective(TokenObjective):
    """The loss of the released design, in the same updates."""

    model: ReleasedHT

    def loss(self, source: SourceBatch, target: Tensor, predicted: Tensor | None = None) -> tuple[Tensor, ...]:
        """Return the divergence as loss and measures; no further units."""
        loss = self.model(source, target, self.label_smoothing)
        return loss, loss.detach(), loss.detach(), loss.new_zeros(())


def measure(side: str, device_name: str, steps: int) -> dict[str, float]:
    """Train for some steps and return tokens per second, share of padding and peak memory in MB."""
    device = find_device(device_name)
    cuda = device.type == "cuda"
    clock = time.perf_counter if cuda else time.process_time
    if not cuda:
        torch.set_num_threads(1)
    preset, pieces, batch_tokens = ("ht", 32_000, 42_000) if cuda else ("ht-small", 8_000, 4_992)
    random_order = side in ("released design", "random order")
    multiple = 1 if random_order else 8
    layout = Layout(pad=PAD, title_mark=TITLE_MARK, length_multiple=multiple)
    table = examples(4096, pieces)
    if random_order:
        batches = random_batches(table, layout, batch_tokens)
    else:
        stream = BatchStream(TableShards([table]), layout, batch_tokens=batch_tokens, window=4096, seed=1)
        batches = stream.batches()
    torch.manual_seed(0)
    model = build_summarizer(preset, vocabulary_size=pieces, pad=PAD)
    loss = "plain" if side == "all logits" else "auto"
    objective = TokenObjective(model, batch_tokens=batch_tokens, label_smoothing=SMOOTHING, loss=loss)
    if side == "released design":
        assert isinstance(model, HierarchicalTransformer)
        objective = ReleasedObjective(ReleasedHT(model.config), batch_tokens=batch_tokens, label_smoothing=SMOOTHING)
    updater = Updater(objective, TrainerSettings(steps=steps), Ranks(device))
    schedule = noam(factor=3, model_size=256, warmup=8000)
    chosen = list(islice(batches, steps + 2))
    before = 0 if cuda else peak_bytes() / 2**20
    for step, batch in enumerate(chosen, start=1):
        if step == 3:  # the first two warm up
            finish(device)
            started = clock()
        updater.update(step, schedule(step), [batch], objective.units(batch))
    finish(device)
    seconds = clock() - started
    peak = torch.cuda.max_memory_allocated(device) / 2**20 if cuda else 0
    timed = chosen[2:]
    real, padded = (sum(getattr(b, name) for b in timed) for name in ("source_tokens", "padded_tokens"))
    return {
        "tokens_per_second": real / seconds,
        "padding": 1 - real / padded,
        "examples_per_second": sum(batch.examples for batch in timed) / seconds,
        "peak_mb": peak or peak_bytes() / 2**20 - before,
    }


def main(device: str = "auto", steps: int | None = None) -> None:
    """Print one line per side and the ratios."""
    cuda = find_device(device).type == "cuda"
    steps = steps or (60 if cuda else 10)
    best: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        for side in SIDES:
            figures = apart(measure, side, device, steps)
            if side not in best or figures["tokens_per_second"] > best[side]["tokens_per_second"]:
                best[side] = figures
    name = torch.cuda.get_device_name(device) if cuda else "CPU, one thread"
    print(f"{name}, {steps} updates, best of {ROUNDS} rounds")
    for side, figures in best.items():
        print(
            f"{side:15} {figures['tokens_per_second']:12,.0f} source tokens/s {figures['examples_per_second']:9,.1f} "
            f"examples/s  padding {figures['padding']:6.1%}  peak {figures['peak_mb']:8,.0f} MB"
        )
    ours = best["ours"]
    released = best["released design"]["tokens_per_second"]
    print(f"speed against the released design: {ours['tokens_per_second'] / released:.2f} x")
    print(f"speed against random order: {ours['tokens_per_second'] / best['random order']['tokens_per_second']:.2f} x")
    print(f"speed against all logits:   {ours['tokens_per_second'] / best['all logits']['tokens_per_second']:.2f} x")
    print(f"peak memory of all logits:  {best['all logits']['peak_mb'] / ours['peak_mb']:.2f} x ours")


if __name__ == "__main__":
    command(main, __doc__)
