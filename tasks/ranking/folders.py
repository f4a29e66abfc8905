"""The local folder with the model that ranks: looked at before work starts, without loading it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.json_file import read_object
from tasks.ranking.model_folder import check_installed, folder_digest, read_config
from tasks.ranking.settings import RankingSettings

_SETTING = "ranking.folder"
_CLASSIFIER = "ForSequenceClassification"
# Files and fields of the library sentence-transformers, which most sentence encoders are published with.
_MODULES, _LIMIT, _PROMPTS = "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"
_KNOWN = ("Transformer", "Pooling", "Normalize")  # a cosine normalises in any case
_FLAGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}


@dataclass(frozen=True)
class RankingFolder:
    """What a folder says of its model."""

    architecture: str  # the class of its weights
    classifies: bool  # whether it is a cross-encoder
    pooling: str = "mean"  # of a sentence encoder: cls | mean
    longest: int | None = None  # tokens of a text; None = as many as the model can read
    title_prompt: str = ""  # what it expects before a title and before a paragraph
    text_prompt: str = ""
    sizes: str = ""  # for people


def read_ranking_folder(settings: RankingSettings) -> RankingFolder | None:
    """Return what the folder of the settings says, None if they name none. Raises FileNotFoundError: there is no such
    folder, or it lacks its configuration, weights or tokenizer; ValueError: its model is none that the method can rank
    by, or the library that runs it is not there."""
    if settings.folder is None:
        return None
    check_installed({"transformers": ""}, _SETTING, "backbones")
    config = read_config(settings.folder, _SETTING)
    (architecture, *_) = config.get("architectures") or ["none that config.json names"]
    classifies = architecture.endswith(_CLASSIFIER)
    wanted, fits = (
        (f"one ...{_CLASSIFIER}", classifies)
        if settings.method == "cross-encoder"
        else ("an encoder such as BertModel", architecture.endswith(("Model", "ForMaskedLM")))
    )
    if not fits:
        what = f"expected {wanted} for {settings.method}, got {architecture}"
        raise ValueError(f"{_SETTING} is {settings.folder!r}: {what}")
    sizes = _sizes(config, Path(settings.folder))
    if classifies:
        labels = len(config["id2label"]) if config.get("id2label") else config.get("num_labels", 2)
        if labels != 1:
            raise ValueError(f"{_SETTING} is {settings.folder!r}: expected a model of one score, got {labels} labels")
        return RankingFolder(architecture, classifies, sizes=sizes)
    folder = Path(settings.folder)
    prompts = _given(folder / _PROMPTS).get("prompts") or {}
    return RankingFolder(
        architecture,
        classifies,
        _pooling(folder),
        _given(folder / _LIMIT).get("max_seq_length"),
        prompts.get("query", ""),
        prompts.get("document", prompts.get("passage", "")),
        sizes,
    )


def ranking_notes(settings: RankingSettings) -> dict[str, str]:
    """Return what decides scores beside the settings, which name a folder: the digest of its model. Raises
    FileNotFoundError, ValueError: as `read_ranking_folder`."""
    if settings.folder is None:
        return {}
    read_ranking_folder(settings)
    return {"ranking_sha256": folder_digest(settings.folder)}


def _pooling(folder: Path) -> str:
    """Return how a sentence encoder makes one vector of those of a text's tokens; a bare encoder takes the mean."""
    file = folder / _MODULES
    if not file.is_file():
        return "mean"
    modules = _modules(file)
    for kind in modules:
        if kind not in _KNOWN:
            raise ValueError(f"{_SETTING} is {str(folder)!r}: expected {', '.join(_KNOWN)} in {_MODULES}, got {kind}")
    config = _given(folder / modules.get("Pooling", "") / "config.json")
    modes = {_FLAGS.get(flag, flag) for flag, on in config.items() if flag.startswith("pooling_mode_") and on is True}
    modes |= {str(config["pooling_mode"])} if "pooling_mode" in config else set()
    (mode, *others) = sorted(modes) or ["none"]
    if others or mode not in _FLAGS.values():
        found = " and ".join((mode, *others))
        raise ValueError(f"{_SETTING} is {str(folder)!r}: expected pooling by cls or mean, got {found}")
    return mode


def _modules(file: Path) -> dict[str, str]:
    """Return the folder of each module, by the last part of its class's name."""
    try:
        return {str(one["type"]).rpartition(".")[2]: str(one["path"]) for one in json.loads(file.read_text("utf-8"))}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file}: expected a list of modules with type and path, but {error!r}") from error


def _given(file: Path) -> dict[str, Any]:
    return read_object(file) if file.is_file() else {}


def _sizes(config: dict[str, Any], folder: Path) -> str:
    weights = sum(file.stat().st_size for file in folder.glob("model*.safetensors"))
    layers, size = config.get("num_hidden_layers", "?"), config.get("hidden_size", "?")
    return f"{layers} layers, d={size}, {weights / 1e6:,.1f} MB of weights"
