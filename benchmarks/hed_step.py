"""Time and memory of a training step of HED against BART, on the same articles.

    python -m benchmarks.hed_step [--articles N] [--documents N] [--tokens N] [--target N] [--rounds N] [--device NAME]

Both have the size of --preset and the same weights; the documents of an article fill --tokens together. The defaults
are those of Multi-News (Shen et al. 2023, Table 1). The two take turns, and the medians are
printed. Memory is what the forward pass keeps for the backward pass: on a CPU the bytes of the tensors that autograd
stores, on CUDA the peak of the allocator.
"""

import argparse
import statistics
import time

import torch
from torch import Tensor

from models.contract import SourceBatch, Summarizer
from models.dry_run import kept_bytes
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


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description="a training step of HED against BART")
    parser.add_argument("--preset", default="bart-small")
    parser.add_argument("--articles", type=int, default=2)
    parser.add_argument("--documents", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=1794)
    parser.add_argument("--target", type=int, default=217)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    shape = (options.articles, options.documents, options.tokens // options.documents)
    tokens = torch.randint(4, 5000, shape)
    ranks = torch.arange(options.documents).expand(options.articles, -1).contiguous()
    title = torch.full((options.articles, 1), PAD)
    source = SourceBatch(tokens, ranks, title, PAD).to(options.device)
    target = torch.randint(4, 5000, (options.articles, options.target), device=options.device)
    objectives: dict[str, TokenObjective] = {}
    for name, switches in (("BART", {}), ("HED", SWITCHES)):
        torch.manual_seed(0)
        size = {"max_positions": options.tokens, "source_tokens": options.tokens, "attention_dropout": 0.0}
        model: Summarizer = build_summarizer(options.preset, vocabulary_size=5000, pad=PAD, **size, **switches)
        objectives[name] = TokenObjective(model.to(options.device).train(), batch_tokens=0)
        step(objectives[name], source, target)  # warms up
    rounds = [{name: step(one, source, target) for name, one in objectives.items()} for _ in range(options.rounds)]
    seconds = {name: statistics.median(found[name] for found in rounds) for name in objectives}
    memory = {name: peak_bytes(one, source, target) for name, one in objectives.items()}
    print(
        f"{options.preset}: {options.articles} articles of {options.documents} documents, {options.tokens} tokens "
        f"together, targets of {options.target}; on {options.device}"
    )
    for name in objectives:
        print(f"{name:<5} {seconds[name]:.3f} s  {memory[name] / 1e6:,.0f} MB")
    print(f"HED / BART: time {seconds['HED'] / seconds['BART']:.2f} x, memory {memory['HED'] / memory['BART']:.2f} x")


if __name__ == "__main__":
    main()
