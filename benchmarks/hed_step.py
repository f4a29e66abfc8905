"""Time and memory of a training step of HED against BART, on the same articles.

    python -m benchmarks.hed_step [--articles N] [--documents N] [--tokens N] [--target N] [--rounds N] [--device NAME]

Both have the size of --preset and the same weights; the documents of an article fill --tokens together. The defaults
are those of Multi-News (Shen et al. 2023, Table 1). The two take turns, and the medians are
printed. Memory is what the forward pass keeps for the backward pass: on a CPU the bytes of the tensors that autograd
stores, on CUDA the peak of the allocator.
"""

import statistics
import time

import torch
from torch import Tensor

from benchmarks.frame import command
from models.__main__ import kept_bytes
from models.contract import SourceBatch, Summarizer
from models.registry import build_summarizer
from models.training.token_objective import TokenObjective

PAD = 1
SWITCHES = {"document_begin": True, "hae": True, "had": True, "position_restart": True}


def step(objective: TokenObjective, source: SourceBatch, target: Tensor) -> float:
    """Return the seconds of a forward and a backward pass."""
    begin = time.perf_counter()
    objective.loss(source, target)[0].backward()
    objective.model.zero_grad()
    if source.tokens.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def peak_bytes(objective: TokenObjective, source: SourceBatch, target: Tensor) -> int:
    """Return the memory of a step besides what is held between steps."""
    if not source.tokens.is_cuda:
        return kept_bytes(objective.model, source, target)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    step(objective, source, target)
    return torch.cuda.max_memory_allocated() - before


def main(
    preset: str = "bart-small",
    articles: int = 2,
    documents: int = 3,
    tokens: int = 1794,
    target: int = 217,
    rounds: int = 3,
    device: str = "cpu",
    threads: int = 2,
) -> None:
    """Run from the command line."""
    torch.set_num_threads(threads)
    shape = (articles, documents, tokens // documents)
    ids = torch.randint(4, 5000, shape)
    ranks = torch.arange(documents).expand(articles, -1).contiguous()
    title = torch.full((articles, 1), PAD)
    source = SourceBatch(ids, ranks, title, PAD).to(device)
    targets = torch.randint(4, 5000, (articles, target), device=device)
    objectives: dict[str, TokenObjective] = {}
    for name, switches in (("BART", {}), ("HED", SWITCHES)):
        torch.manual_seed(0)
        size = {"max_positions": tokens, "source_tokens": tokens, "attention_dropout": 0.0}
        model: Summarizer = build_summarizer(preset, vocabulary_size=5000, pad=PAD, **size, **switches)
        objectives[name] = TokenObjective(model.to(device).train(), batch_tokens=0)
        step(objectives[name], source, targets)  # warms up
    found = [{name: step(one, source, targets) for name, one in objectives.items()} for _ in range(rounds)]
    seconds = {name: statistics.median(one[name] for one in found) for name in objectives}
    memory = {name: peak_bytes(one, source, targets) for name, one in objectives.items()}
    print(
        f"{preset}: {articles} articles of {documents} documents, {tokens} tokens "
        f"together, targets of {target}; on {device}"
    )
    for name in objectives:
        print(f"{name:<5} {seconds[name]:.3f} s  {memory[name] / 1e6:,.0f} MB")
    print(f"HED / BART: time {seconds['HED'] / seconds['BART']:.2f} x, memory {memory['HED'] / memory['BART']:.2f} x")


if __name__ == "__main__":
    command(main, __doc__)
