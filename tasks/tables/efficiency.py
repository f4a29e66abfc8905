"""How long a trained summarizer takes over the validation articles (002 Table 5, validation speed)."""

import json
import time
from pathlib import Path
from typing import Any

import torch

from models.training.batches import Batch, TableShards, sweep
from models.training.distributed import find_device
from models.training.loss import token_loss
from tasks.summarizer_directory import TrainedSummarizer, load_summarizer
from tasks.training import ArticleShards, validation_examples

FILE = "efficiency.json"


def time_validation(
    shards: ArticleShards, summarizer: Path, *, articles: int, batch_tokens: int, directory: Path, device: str = "auto"
) -> dict[str, Any]:
    """Run a summarizer once over the validation articles, as validation in training does, and take the time.

    The first batch is run twice, and the first of these is not counted: it is slower than any other.

    Args:
        shards: (EXAMPLES[, GRAPHS]) of each article shard, graphs where the summarizer reads one.
        summarizer: directory of a trained summarizer.
        articles: of the split `valid`, at most.
        batch_tokens: source tokens, and target tokens, of a batch, padding included.
        directory: gets `efficiency.json`.
        device: where the summarizer runs: auto | cpu | cuda.

    Returns:
        `seconds`, `articles` and `device`; `published` names the file that says the same.

    Raises:
        ValueError: the directory holds no summarizer, or one example does not fit a batch.
    """
    trained = load_summarizer(summarizer, device=find_device(device))
    table = validation_examples(shards, trained.graph, articles)
    batches = list(sweep(TableShards([table]), trained.layout, batch_tokens=batch_tokens))
    place = next(trained.model.parameters()).device
    for batch in batches[:1]:
        _forward(trained, batch, place)
    started = time.monotonic()
    for batch in batches:
        _forward(trained, batch, place)
    seconds = time.monotonic() - started
    found = {"seconds": round(seconds, 3), "articles": table.num_rows, "device": place.type}
    (directory / FILE).write_text(json.dumps(found) + "\n", encoding="utf-8")
    return {"published": [FILE], **found}


@torch.inference_mode()
def _forward(trained: TrainedSummarizer, batch: Batch, device: torch.device) -> float:
    """Return the loss of a batch; asking for the number waits for the device."""
    target = batch.target.to(device)
    memory = trained.model.encode(batch.source.to(device))
    hidden = trained.model.decode(target[:, :-1], memory, attention=False).hidden
    loss = token_loss(trained.model, hidden, target[:, 1:], pad=trained.layout.pad, smoothing=0.0, way="chunked")
    return float(loss.nll.item())
