"""Whether one text entails another (natural language inference, NLI): what says so, and which models can."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tasks.evaluation.judge_settings import NliSettings
from tasks.evaluation.metrics import Floats
from tasks.ranking.model_folder import read_config

Pair = tuple[str, str]  # premise, hypothesis
_SETTING = "scoring.nli.folder"
_LABELS = ("entailment", "contradiction")


class Entailment(Protocol):
    """Says how likely premises entail and contradict their hypotheses."""

    def __call__(self, pairs: Sequence[Pair]) -> Floats:
        """Return [N, 2], P(entailment) and P(contradiction) of each of N pairs, 0-1."""


def label_ids(settings: NliSettings) -> list[int]:
    """Return the ids of entailment and contradiction, as the configuration of the folder's model names them. Raises
    FileNotFoundError: there is no such folder, or no model in it; ValueError: it classifies no texts, or into other
    classes."""
    config = read_config(settings.folder, _SETTING)
    kinds = config.get("architectures") or []
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise ValueError(
            f"{_SETTING} is {settings.folder!r}: expected a model for sequence classification, got "
            f"{', '.join(kinds) or 'one that does not say what it is'}"
        )
    labels: Mapping[str, str] = config.get("id2label") or {}
    ids = {name.lower(): int(number) for number, name in labels.items()}
    if not ids.keys() >= set(_LABELS):
        raise ValueError(
            f"{_SETTING} is {settings.folder!r}: expected the labels {' and '.join(_LABELS)} in its id2label, got "
            f"{', '.join(labels.values()) or 'none'}"
        )
    return [ids[label] for label in _LABELS]
