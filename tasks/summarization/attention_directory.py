"""A trained attention predictor on disk: its weights, its configuration, and the summarizer it belongs to."""

import json
from pathlib import Path
from typing import Any

import torch

from models.attention_predictor import AttentionPredictor
from models.exported import WEIGHTS as SUMMARIZER_WEIGHTS
from models.training.checkpoints import write_text_atomically
from models.training.weights import load_weights, weights_digest

WEIGHTS, CONFIG = "model.safetensors", "config.json"
PUBLISHED = (WEIGHTS, CONFIG)
_ARCHITECTURE = "attention-predictor"


def describe_predictor(directory: Path, predictor: AttentionPredictor, *, summarizer: str) -> None:
    """Write `config.json` beside the weights: the configuration, and the `weights_digest` of the summarizer."""
    record = {"architecture": _ARCHITECTURE, "config": predictor.to_config_dict(), "summarizer": summarizer}
    write_text_atomically(directory / CONFIG, json.dumps(record, indent=1) + "\n")


def load_predictor(directory: Path, summarizer: Path, *, device: torch.device | str = "cpu") -> AttentionPredictor:
    """Read the predictor in `directory`, of the summarizer in another, onto `device`, in evaluation mode.
    Raises ValueError: the directory has no attention predictor, one of another summarizer, or a damaged file.
    """
    try:
        record: dict[str, Any] = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
        architecture, config, learned = record["architecture"], record["config"], record["summarizer"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"expected an attention predictor in {directory}: {error!r}") from error
    if architecture != _ARCHITECTURE:
        raise ValueError(f"{directory}: expected a model of architecture {_ARCHITECTURE!r}, got {architecture!r}")
    if learned != (actual := weights_digest(summarizer / SUMMARIZER_WEIGHTS)):
        raise ValueError(
            f"{directory} predicts the attention of the summarizer with weights {learned}, expected those in "
            f"{summarizer}: {actual}"
        )
    predictor = AttentionPredictor.from_config_dict(config)
    load_weights(predictor, directory / WEIGHTS)
    return predictor.to(device).eval()
