"""Whether one text entails another (natural language inference, NLI): what says so, and which models can."""

from collections.abc import Callable, Mapping, Sequence

from tasks.evaluation.metrics import Floats
from tasks.ranking.folders import check_installed, folder_digest, read_config

Pair = tuple[str, str]  # premise, hypothesis
# pairs -> [N, 2], P(entailment) and P(contradiction) of each of N pairs, 0-1
Entailment = Callable[[Sequence[Pair]], Floats]
ENTAILED = 0.5  # more likely than not
_LABELS = ("entailment", "contradiction")


def premise(title: str, texts: Sequence[str]) -> str:
    """Return texts as one premise, after the title of their article, which is known to all."""
    return "\n".join([title, *texts])


def entailment_digest(folder: str, setting: str) -> str:
    """Return the digest of a folder's model, by whose answers something is decided; raises as `label_ids`."""
    label_ids(folder, setting)
    return folder_digest(folder)


def check_entailment(folder: str, setting: str) -> None:
    """See that this machine has what a folder's model runs on. Raises as `label_ids`; ValueError also: there is no
    transformers."""
    label_ids(folder, setting)
    check_installed({"transformers": ""}, setting)


def label_ids(folder: str, setting: str) -> list[int]:
    """Return the ids of entailment and contradiction, as the configuration of the folder's model names them. Raises
    FileNotFoundError: there is no such folder, or no model in it; ValueError: it classifies no texts, or into other
    classes; they name the setting."""
    config = read_config(folder, setting)
    kinds = config.get("architectures") or []
    if not any(kind.endswith("ForSequenceClassification") for kind in kinds):
        raise ValueError(
            f"{setting} is {folder!r}: expected a model for sequence classification, got "
            f"{', '.join(kinds) or 'one that does not say what it is'}"
        )
    labels: Mapping[str, str] = config.get("id2label") or {}
    ids = {name.lower(): int(number) for number, name in labels.items()}
    if not ids.keys() >= set(_LABELS):
        raise ValueError(
            f"{setting} is {folder!r}: expected the labels {' and '.join(_LABELS)} in its id2label, got "
            f"{', '.join(labels.values()) or 'none'}"
        )
    return [ids[label] for label in _LABELS]
