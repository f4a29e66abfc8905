"""How much a trained summarizer takes (002 Table 5): seconds of a validation, and memory, as the largest batch."""

import json
import time
from pathlib import Path
from typing import Any

from models.registry import to_config_dict
from models.training.batches import TableShards, sweep
from models.training.distributed import Ranks, find_device
from models.training.state import TrainerSettings
from models.training.update import Updater
from tasks.summarizer_directory import load_summarizer
from tasks.tables.capacity import find_capacity
from tasks.training import ArticleShards, validation_examples

FILE = "efficiency.json"


def measure_efficiency(
    shards: ArticleShards,
    summarizer: Path,
    *,
    articles: int,
    batch_tokens: int,
    source_tokens: int,
    memory_bytes: int,
    directory: Path,
    precision: str = "auto",
    device: str = "auto",
) -> dict[str, Any]:
    """Run a summarizer once over the validation articles, as validation in training does, and find its largest batch.

    The first batch is run twice, and the first of these is not counted: it is slower than any other.

    Args:
        shards: (EXAMPLES[, GRAPHS]) of each article shard, graphs where the summarizer reads one.
        summarizer: directory of a trained summarizer.
        articles: of the split `valid`, at most.
        batch_tokens: source tokens, and target tokens, of a batch of that run, padding included.
        source_tokens: of each example of the largest batch.
        memory_bytes: limit that the largest batch has to fit.
        directory: gets `efficiency.json`.
        precision: of that run, see `TrainerSettings`.
        device: where the summarizer runs: auto | cpu | cuda.

    Returns:
        `seconds` over `articles`, `device`, `parameters`, the largest `batch` and in which `way` it was found;
        `published` names the file that says the same.

    Raises:
        ValueError: the directory holds no summarizer, or one example does not fit a batch.
    """
    trained = load_summarizer(summarizer, device=find_device(device))
    table = validation_examples(shards, trained.graph, articles)
    batches = list(sweep(TableShards([table]), trained.layout, batch_tokens=batch_tokens))
    place = next(trained.model.parameters()).device
    updater = Updater(
        trained.model, TrainerSettings(steps=1, precision=precision), Ranks(place), batch_tokens=batch_tokens
    )
    for batch in batches[:1]:
        updater.losses(batch)
    started = time.monotonic()
    for batch in batches:
        updater.losses(batch)  # numbers, for which the device is waited
    seconds = time.monotonic() - started
    capacity = find_capacity(
        to_config_dict(trained.model),
        trained.layout,
        source_tokens=source_tokens,
        memory_bytes=memory_bytes,
        device=place,
    )
    found = {
        "seconds": round(seconds, 3),
        "articles": table.num_rows,
        "device": place.type,
        "parameters": sum(parameter.numel() for parameter in trained.model.parameters()),
        "batch": capacity.batch,
        "way": capacity.way,
    }
    (directory / FILE).write_text(json.dumps(found) + "\n", encoding="utf-8")
    return {"published": [FILE], **found}
