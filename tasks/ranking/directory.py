"""A trained ranker on disk: everything needed to score paragraphs, in one directory."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import torch

from models.ranker import ParagraphRanker, RankerConfig
from models.training.checkpoints import write_bytes_atomically, write_text_atomically
from models.training.weights import load_weights
from models.vocabulary import Vocabulary

WEIGHTS, CONFIG, VOCABULARY = "model.safetensors", "config.json", "vocabulary.model"
PUBLISHED = [WEIGHTS, CONFIG, VOCABULARY]
_ARCHITECTURE = "ranker"


@dataclass(frozen=True)
class TrainedRanker:
    """A ranker and how to prepare its input."""

    model: ParagraphRanker  # on its device, in evaluation mode
    vocabulary: Vocabulary  # of its texts
    title_tokens: int  # tokens of a title that it was trained to read
    paragraph_tokens: int  # tokens of a paragraph that it was trained to read


def describe_ranker(
    directory: Path, config: RankerConfig, vocabulary: Vocabulary, *, title_tokens: int, paragraph_tokens: int
) -> None:
    """Write a ranker's files beside its weights, `config.json` last."""
    write_bytes_atomically(directory / VOCABULARY, vocabulary.model)
    record = {
        "architecture": _ARCHITECTURE,
        "config": dataclasses.asdict(config),
        "title_tokens": title_tokens,
        "paragraph_tokens": paragraph_tokens,
    }
    write_text_atomically(directory / CONFIG, json.dumps(record, indent=1) + "\n")


def load_ranker(directory: Path, device: torch.device) -> TrainedRanker:
    """Read a ranker onto `device`. Raises ValueError: the directory has none, or a file is damaged."""
    try:
        record = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        if record["architecture"] != _ARCHITECTURE:
            raise ValueError(f"{directory}: expected a ranker, got a model of architecture {record['architecture']!r}")
        config = RankerConfig(**record["config"])
        title_tokens, paragraph_tokens = int(record["title_tokens"]), int(record["paragraph_tokens"])
        vocabulary = Vocabulary.from_file(directory / VOCABULARY)
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{directory} does not hold a trained ranker: {error!r}") from error
    if vocabulary.size != config.vocabulary:
        raise ValueError(f"{directory}: {VOCABULARY} has {vocabulary.size} pieces, the ranker {config.vocabulary}")
    model = ParagraphRanker(config)
    load_weights(model, directory / WEIGHTS)
    return TrainedRanker(model.to(device).eval(), vocabulary, title_tokens, paragraph_tokens)
