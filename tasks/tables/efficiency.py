"""Cost of a trained summarizer (Ma & Zong 2022, Table 5): seconds of a validation, and memory, as the largest batch."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from models.registry import to_config_dict
from models.training.batches import sweep
from models.training.distributed import Ranks, find_device
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective
from models.training.trainer import Updater
from tasks.engine.recipe import ReadableShards
from tasks.summarization.directory import load_summarizer
from tasks.summarization.training import validation_examples
from tasks.tables.capacity import find_capacity

FILE = "efficiency.json"


def measure_efficiency(
    shards: ReadableShards,
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
    (EXAMPLES[, GRAPHS]) of each, graphs where the summarizer reads one. Of each article at most so many `paragraphs`
    and `source_tokens` are read, whatever the summarizer was trained on, and the examples of the largest batch are as
    long: "1600 input tokens in this part to ensure fairness" (Ma & Zong 2022, sec. 7.1.2). `batch_tokens` are source
    tokens, and target tokens, of a batch, padding included.

    Return `seconds` over `articles`, `device`, `parameters`, the largest `batch`, the `way` in which it was found, and
    `published`: `efficiency.json` with the same values. Raises ValueError: the directory has no summarizer, or one
    example does not fit into a batch."""
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
    capacity = find_capacity(
        to_config_dict(trained.model), layout, source_tokens=source_tokens, memory_bytes=memory_bytes, device=resolved
    )
    figures = {
        "seconds": round(seconds, 3),
        "articles": table.num_rows,
        "device": resolved.type,
        "parameters": sum(parameter.numel() for parameter in trained.model.parameters()),
        "batch": capacity.batch,
        "way": capacity.method,
    }
    (directory / FILE).write_text(json.dumps(figures) + "\n", encoding="utf-8")
    return {"published": [FILE], **figures}
