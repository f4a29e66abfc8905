"""Cost of a trained summarizer (Ma & Zong 2022, Table 5): seconds of a validation, and memory, as the largest batch
that it can be trained on within a limit (11 GB there).

On CUDA batches grow until the allocator, limited in a separate process, runs out of memory. A CPU measures the bytes of
tensors during an update for two batch sizes. Each example adds the same number of bytes to their peak, so the line
through both gives the batch that reaches the limit, without using that much memory."""

import gc
import json
import math
import multiprocessing
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from models.contract import Summarizer
from models.registry import from_config_dict, to_config_dict
from models.training import token_objective
from models.training.batches import Batch, Position, sweep
from models.training.distributed import Ranks, find_device
from models.training.layout import Example, Layout, source_batch, target_batch
from models.training.live_memory import LiveBytes
from models.training.state import TrainerSettings, TrainingError
from models.training.token_objective import TokenObjective
from models.training.trainer import Updater
from tasks.engine.recipe import Shards
from tasks.summarization.directory import load_summarizer
from tasks.summarization.training import validation_examples

FILE = "efficiency.json"


def measure_efficiency(
    shards: Shards,
    summarizer: Path,
    *,
    articles: int,
    batch_tokens: int,
    paragraphs: int,
    source_tokens: int,
    memory_bytes: int,
    directory: Path,
    precision: str = "auto",
    device: str = "auto",
) -> dict[str, Any]:
    """Run a summarizer once over the validation articles, as in the validation of training, and find its largest batch.

    The first batch is run twice, because its first run is slower than all others and is not counted. `shards`:
    (EXAMPLES[, GRAPHS]) of each, graphs where the summarizer reads one. Each article gives at most so many `paragraphs`
    and `source_tokens`, whatever the summarizer was trained on, and the examples of the largest batch are as long. Ma &
    Zong 2022, sec. 7.1.2: "1600 input tokens in this part to ensure fairness". `batch_tokens` are source tokens, and
    target tokens, of a batch, padding included.

    Return `seconds` over `articles`, `device`, `parameters`, the largest `batch`, the `way` to it, and as `published`
    `efficiency.json` with them. Raises ValueError: no summarizer is given, or an example does not fit into a batch."""
    trained = load_summarizer(summarizer, device=find_device(device), source_tokens=source_tokens)
    layout = replace(trained.layout, max_paragraphs=paragraphs, max_source_tokens=source_tokens)
    table = validation_examples(shards, trained.graph, articles)
    batches = list(sweep([table], layout, batch_tokens=batch_tokens))
    resolved = next(trained.model.parameters()).device
    objective = TokenObjective(trained.model, batch_tokens=batch_tokens)
    updater = Updater(objective, TrainerSettings(steps=1, precision=precision), Ranks(resolved))
    for batch in batches[:1]:
        updater.losses(batch)
    started = time.monotonic()
    for batch in batches:
        updater.losses(batch)  # returns numbers, so it waits for the device
    seconds = time.monotonic() - started
    most, way = find_capacity(
        to_config_dict(trained.model), layout, source_tokens=source_tokens, memory_bytes=memory_bytes, device=resolved
    )
    figures = {
        "seconds": round(seconds, 3),
        "articles": table.num_rows,
        "device": resolved.type,
        "parameters": sum(parameter.numel() for parameter in trained.model.parameters()),
        "batch": most,
        "way": way,
    }
    (directory / FILE).write_text(json.dumps(figures) + "\n", encoding="utf-8")
    return {"published": [FILE], **figures}


MOST = 1 << 16  # maximum number of examples that is tried


def find_capacity(
    config: Mapping[str, Any], layout: Layout, *, source_tokens: int, memory_bytes: int, device: torch.device
) -> tuple[int, str]:
    """Return the examples of the largest batch whose second update, with Adam's moments, fits, 0 if not even one fits;
    and how it was found, for people. The examples are full."""
    limit = f"{memory_bytes / 1e9:g} GB"
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        # Spawned, because CUDA cannot be used after a fork; a separate process, because the limit is per process.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            asked = pool.submit(_largest_on_cuda, config, layout, source_tokens, memory_bytes, device)
            return asked.result(), f"bfloat16 on {name}, growing until its allocator refused more than {limit}"
    method = f"float32 on the CPU, where the line through the live tensors' peak in two batches meets {limit}"
    return _largest_on_cpu(config, layout, source_tokens, memory_bytes), method


def largest(fits: Callable[[int], bool], most: int = MOST) -> int:
    """Return the largest size up to `most` that fits, 0 if none does; all sizes below one that fits must fit too."""
    low, high = 0, 1
    while high <= most and fits(high):
        low, high = high, 2 * high
    between = range(low + 1, min(high, most + 1))
    return low + bisect_left(between, True, key=lambda size: not fits(size))


def longest_batch(model: Summarizer, layout: Layout, source_tokens: int, examples: int) -> Batch:
    """Return a batch of equal examples of maximum length."""
    paragraphs = min(layout.max_paragraphs, math.ceil(source_tokens / layout.max_paragraph_tokens))
    token = np.array([next(id_ for id_ in range(2) if id_ != layout.pad)], dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    example = Example(
        paragraphs=[token.repeat(layout.max_paragraph_tokens)] * paragraphs,
        ranks=np.arange(paragraphs),
        title=token,
        target=token.repeat(layout.max_target_tokens),
        edges=(nothing, nothing, nothing.astype(np.float32)) if layout.graph else None,
    )
    source = source_batch([example] * examples, layout)
    target = target_batch([example] * examples, layout)
    source_size = examples * paragraphs * layout.max_paragraph_tokens
    return Batch(source, target, examples, source_size, source.tokens.numel(), Position())


def peak_bytes(config: Mapping[str, Any], layout: Layout, source_tokens: int, examples: int) -> int:
    """Return the peak bytes of tensors during two updates on the CPU, weights and moments included."""
    model = from_config_dict(config)
    batch = longest_batch(model, layout, source_tokens, examples)
    memory = LiveBytes([*model.parameters(), *model.buffers()])
    with memory:
        _update_twice(model, batch, torch.device("cpu"))
    return memory.peak


def _largest_on_cpu(config: Mapping[str, Any], layout: Layout, source_tokens: int, limit: int) -> int:
    # From this size on, the logits of the loss no longer grow: they are those of one chunk of positions.
    size = 1 + token_objective.CHUNK // max(1, layout.max_target_tokens - 1)
    peaks = {n: peak_bytes(config, layout, source_tokens, n) for n in (size, 2 * size)}
    bytes_per_example = (peaks[2 * size] - peaks[size]) / size

    def fits(examples: int) -> bool:
        if examples < size:
            return peak_bytes(config, layout, source_tokens, examples) <= limit
        return peaks[size] + (examples - size) * bytes_per_example <= limit

    return largest(fits)


def _largest_on_cuda(
    config: Mapping[str, Any], layout: Layout, source_tokens: int, limit: int, device: torch.device
) -> int:
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total), device)

    def fits(examples: int) -> bool:
        gc.collect()
        torch.cuda.empty_cache()
        try:
            model = from_config_dict(config)
            _update_twice(model, longest_batch(model, layout, source_tokens, examples), device)
        except torch.OutOfMemoryError:
            return False
        except TrainingError as error:
            if isinstance(error.__cause__, torch.OutOfMemoryError):
                return False
            raise
        return True

    return largest(fits)


def _update_twice(model: Summarizer, batch: Batch, device: torch.device) -> None:
    loss = "auto" if device.type == "cuda" else "chunked"
    objective = TokenObjective(model, batch_tokens=batch.padded_tokens, loss_method=loss)
    updater = Updater(objective, TrainerSettings(steps=2), Ranks(device))
    for step in (1, 2):
        updater.update(step, [1e-6] * len(updater.optimizer.param_groups), [batch], objective.units(batch))
