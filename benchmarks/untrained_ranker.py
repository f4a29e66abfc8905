"""A ranker's directory without training: memory and speed of ranking do not depend on the weights' values."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import torch

from models.ranker import ParagraphRanker, RankerConfig
from models.training.weights import save_weights
from tasks.ranking.directory import CONFIG, VOCABULARY, WEIGHTS, describe_ranker
from tasks.text.vocabulary import read_vocabulary


def make_ranker(vocabulary: pa.Table, directory: Path, size: int) -> dict[str, Any]:
    """Write a ranker of random weights into `directory`; `size` is that of its embeddings and LSTMs."""
    pieces = read_vocabulary(vocabulary)
    config = RankerConfig(vocabulary=pieces.size, pad=pieces.pad, embedding=size, hidden=size)
    torch.manual_seed(0)
    save_weights(ParagraphRanker(config), directory / WEIGHTS)
    describe_ranker(directory, config, pieces, title_tokens=32, paragraph_tokens=100)
    return {"published": [WEIGHTS, CONFIG, VOCABULARY]}
