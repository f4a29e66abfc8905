"""A model in a local folder of Hugging Face's layout: looked at before work starts, then loaded without a network."""

import hashlib
import importlib.util
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any

from models.json_file import read_object
from tasks.sources.files import file_digest

_READ = (".json", ".safetensors", ".txt", ".model")  # configuration, weights, vocabularies
_NEEDED = (
    ("config.json",),
    ("model.safetensors", "model.safetensors.index.json"),  # pickled weights are never read
    ("tokenizer.json", "tokenizer_config.json"),
)
_LOADING = Lock()  # the library finds its classes when they are first asked for, which two threads at once break
_MOST_TOKENS = 512  # of an input, where neither tokenizer nor model says less: what such models are trained on


def check_installed(packages: Mapping[str, str], setting: str, extra: str = "judges") -> None:
    """See that packages of an extra are there. `packages`: name -> version that it must have; "" = any; `setting`: name
    of the setting, for messages. Raises ValueError: one is not, or has another version."""
    for name, version in packages.items():
        found = metadata.version(name) if importlib.util.find_spec(name) else "none"
        if found == "none" or version not in ("", found):
            raise ValueError(
                f"{setting} is set: expected {f'{name} {version}'.strip()}, found {found}; it comes with the extra of "
                f"this project, pip install 'wikisum[{extra}]'"
            )


def read_config(folder: str, setting: str) -> dict[str, Any]:
    """Return the configuration of the model in a folder. `folder`: where it is; `setting`: name of the setting, for
    messages. Raises FileNotFoundError: there is no such folder, or it lacks its configuration, weights or tokenizer;
    ValueError: its configuration is no JSON object."""
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


def load_model(kind: str, folder: str) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a folder, from its files alone: no network, no pickle, no code. `kind`:
    class of transformers that loads it, such as AutoModel; `folder`: where it is. Raises ValueError: the weights are
    not those of such a model, or not all numbers; OSError: a file is missing."""
    with _LOADING:
        import torch
        import transformers  # here, because it takes seconds and comes with an extra that few install

        from models.training.weights import check_finite

        transformers.utils.logging.disable_progress_bar()
        own = {"local_files_only": True, "trust_remote_code": False}
        model, report = getattr(transformers, kind).from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **own
        )
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
