"""The largest batch that a summarizer can be trained on within a memory limit (Ma & Zong 2022, Table 5: 11 GB).

On CUDA batches grow until the allocator, limited in a separate process, runs out of memory. On the CPU the bytes of
tensors during an update are measured for two batch sizes; each example adds the same number of bytes to their peak, so
the line through both gives the batch at which the limit is reached, without using that much memory.

The examples have the maximum length, equal for all systems ("1600 input tokens ... to ensure fairness")."""

import gc
import math
import multiprocessing
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from models.contract import Summarizer
from models.registry import from_config_dict
from models.training import token_objective
from models.training.batches import Batch, Position
from models.training.distributed import Ranks
from models.training.layout import Example, Layout, source_batch, target_batch
from models.training.live_memory import LiveBytes
from models.training.state import TrainerSettings, TrainingError
from models.training.token_objective import TokenObjective
from models.training.trainer import Updater

MOST = 1 << 16  # maximum number of examples that is tried


@dataclass(frozen=True)
class Capacity:
    """The largest batch."""

    batch: int  # number of examples of the largest batch that fits; 0 if not even one fits
    method: str  # how it was found, for people


def find_capacity(
    config: Mapping[str, Any], layout: Layout, *, source_tokens: int, memory_bytes: int, device: torch.device
) -> Capacity:
    """Return the largest batch whose second update, with Adam's moments, fits; its examples are full."""
    limit = f"{memory_bytes / 1e9:g} GB"
    if device.type == "cuda":
        name = torch.cuda.get_device_name(device)
        # Spawned, because CUDA cannot be used after a fork; a separate process, because the limit is per process.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            asked = pool.submit(_largest_on_cuda, config, layout, source_tokens, memory_bytes, device)
            return Capacity(
                asked.result(), f"bfloat16 on {name}, growing until its allocator refused more than {limit}"
            )
    method = f"float32 on the CPU, where the line through the live tensors' peak in two batches meets {limit}"
    return Capacity(_largest_on_cpu(config, layout, source_tokens, memory_bytes), method)


def largest(fits: Callable[[int], bool], most: int = MOST) -> int:
    """Return the largest size up to `most` that fits, 0 if none does; all sizes below one that fits must fit too."""
    low, high = 0, 1
    while high <= most and fits(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


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
    objective = TokenObjective(model, batch_tokens=batch.padded_tokens, loss=loss)
    updater = Updater(objective, TrainerSettings(steps=2), Ranks(device))
    for step in (1, 2):
        updater.update(step, [1e-6] * len(updater.optimizer.param_groups), [batch], objective.units(batch))
