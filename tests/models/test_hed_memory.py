"""What a training step keeps: HED adds no parameter, and hardly anything for the backward pass."""

import pytest
import torch

from models.__main__ import kept_bytes
from models.layers.paragraphs import SourceBatch
from models.registry import build_summarizer

PAD = 1
SIZE = {
    "model_size": 128,
    "feed_forward_size": 256,
    "heads": 2,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "max_positions": 256,
    "source_tokens": 256,
    "attention_dropout": 0.0,
}


@pytest.mark.parametrize(("documents", "tokens"), [(5, 48), (2, 120)])
def test_hed_keeps_no_more_than_bart(documents: int, tokens: int) -> None:
    """Five short documents: queries and contexts of a target exist once a document, and must not be kept."""
    shape = (2, documents, tokens)
    ranks = torch.arange(documents).expand(2, -1).contiguous()
    source = SourceBatch(torch.randint(4, 60, shape), ranks, torch.full((2, 1), PAD), PAD)
    target = torch.randint(4, 60, (2, 100))
    kept = {}
    for name in ("bart", "hed"):
        model = build_summarizer(f"{name}-base", vocabulary_size=60, pad=PAD, **SIZE).train()
        kept[name] = kept_bytes(model, source, target)
    assert 0.5 * kept["bart"] < kept["hed"] <= 1.05 * kept["bart"]
