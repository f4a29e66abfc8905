"""BART from and to a local folder in Hugging Face's layout: config.json with model.safetensors or pytorch_model.bin.

HED and Hie-BART add no parameter to BART, so the same folder serves them; their switches come from the preset and are
not stored in a folder.

Shapes: D model size, V vocabulary."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from models.bart import POSITION_OFFSET, Bart, BartConfig
from models.json_file import LIBRARY_NAMES, MORE
from models.layers.decoder import CopyHead
from models.training.checkpoints import replacing
from models.weights_file import (
    CONFIG,
    SAFETENSORS,
    WeightsFile,
    check_complete,
    check_tied,
    library_fields,
    open_weights,
    own_memory,
    put_weights,
    read_config,
    save_tensors,
    stated_dropouts,
)

_SIZES, _TOKENS = LIBRARY_NAMES["bart-sizes"], LIBRARY_NAMES["bart-tokens"]
_DROPOUTS, _TOKEN_DEFAULTS, _FIXED = (MORE["bart"][name] for name in ("dropouts", "token_defaults", "fixed"))
_TIED, _NOTES, _POSITIONS = (MORE["bart"][name] for name in ("tied", "notes", "positions"))
_SHARED, _BIAS = "model.shared.weight", "final_logits_bias"
_FRESH = "copying."


def read_folder(path: str | Path) -> BartConfig:
    """Return the sizes, special tokens and dropouts that a folder states; every switch is off. Raises ValueError: the
    folder does not exist, or it holds no BART."""
    path = Path(path)
    file, stated = path / CONFIG, read_config(path)
    if stated.get("model_type") != "bart":
        raise ValueError(f"expected model_type 'bart' in {file}, got {stated.get('model_type')!r}")
    for name, expected in _FIXED.items():
        if stated.get(name, expected) != expected:
            raise ValueError(f"expected {name} {expected!r} in {file}, got {stated[name]!r}: another kind of BART")
    known: dict[str, Any] = {field: _size(stated, names, file) for field, names in _SIZES.items()}
    for field, (name,) in _TOKENS.items():
        known[field] = _number(stated.get(name, _TOKEN_DEFAULTS[field]), name, file, at_least=0)
        if known[field] >= known["vocabulary_size"]:
            raise ValueError(
                f"expected {name} below vocab_size {known['vocabulary_size']} in {file}, got {known[field]}"
            )
    known |= stated_dropouts(stated, _DROPOUTS, file)
    try:
        return BartConfig(**known, source_tokens=known["max_positions"])
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def check_pretrained(path: str | Path, config: BartConfig, *, added: int = 0) -> None:
    """Check that a folder can be loaded into a model of `config`; no weight is read. `added` is how many tokens the
    vocabulary has besides those of the folder, such as Hie-BART's [BOS]. Raises ValueError: it cannot, with the name of
    what differs and both values."""
    theirs = read_folder(path)
    _check_sizes(path, theirs, config, added)
    with torch.device("meta"):
        model = Bart(config)
    _check_names(open_weights(Path(path)), model, theirs, added)


def load_pretrained(model: Bart, path: str | Path, *, added: int = 0) -> tuple[str, ...]:
    """Load the weights of a folder into `model`; nothing of it is changed unless all of them fit. Returns the names of
    weights that the folder lacks and that start fresh: those of copying, which BART does not have. A model on the
    device "meta" receives the loaded tensors themselves, so that its weights exist once; make its optimizer afterwards.
    If the model has more positions than the folder, the folder's are repeated (Shen et al. 2023, sec. 5.3). The rows of
    added tokens start as the mean of all rows. Raises ValueError: see `check_pretrained`; or what should be one matrix
    under several names is not."""
    theirs = read_folder(path)
    _check_sizes(path, theirs, model.config, added)
    file = open_weights(Path(path))
    names = _check_names(file, model, theirs, added)
    for name in file.shapes:
        if _ours(name) in _TIED:
            check_tied(file, name, names[_SHARED])
    own = model.state_dict()
    fresh = tuple(name for name in own if name not in names and name.startswith(_FRESH))
    if model.copying is not None and fresh and own[fresh[0]].is_meta:
        model.copying = CopyHead(model.config.model_size, model.config.copying_reach)

    def value(name: str, tensor: Tensor) -> Tensor | None:
        if name in fresh:
            return None
        return _fitted(name, file.tensor(names[name]) if name in names else torch.zeros(tensor.shape), model.config)

    put_weights(model, file.path, value)
    return fresh


def save_pretrained(model: Bart, path: str | Path) -> None:
    """Write a folder that `load_pretrained` and Hugging Face's transformers load; other files in it are kept. Weights
    for copying are stored under names that transformers does not know. Raises OSError: it cannot be written; an earlier
    model in the folder is then still whole."""
    folder, config = Path(path), model.config
    folder.mkdir(parents=True, exist_ok=True)
    stated: dict[str, Any] = {
        "architectures": ["BartForConditionalGeneration"],
        "model_type": "bart",
        "is_encoder_decoder": True,
        **_FIXED,
        **library_fields("bart-sizes", config),
        **library_fields("bart-tokens", config),
        **{name: getattr(config, name) for name in _DROPOUTS},
        # In a search the first token of a summary and the last at the greatest length (Lewis et al. 2020's release).
        "forced_bos_token_id": config.source_begin,
        "forced_eos_token_id": config.end,
    }
    # Both are written before the first replaces an earlier one.
    with replacing(folder / CONFIG) as text, replacing(folder / SAFETENSORS) as weights:
        save_tensors({name: own_memory(value) for name, value in model.state_dict().items()}, weights, {"format": "pt"})
        text.write_text(json.dumps(stated, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def _size(stated: Mapping[str, Any], names: Sequence[str], file: Path) -> int:
    """Return a size that encoder and decoder share."""
    values = [_number(stated.get(name), name, file, at_least=1) for name in names]
    if len(set(values)) > 1:
        raise ValueError(f"expected one value of {' and '.join(names)} in {file}, got {' and '.join(map(str, values))}")
    return values[0]


def _number(value: object, name: str, file: Path, *, at_least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"expected {name} in {file} to be a whole number from {at_least}, got {value!r}")
    return value


def _check_sizes(path: str | Path, folder: BartConfig, config: BartConfig, added: int) -> None:
    """Raise ValueError where the model is not of the folder's sizes."""
    for field in (*_SIZES, *_TOKENS):
        ours, theirs = getattr(config, field), getattr(folder, field)
        if field == "max_positions" and ours < theirs:
            raise ValueError(f"expected max_positions of at least {theirs}, as {path} has, got {ours}")
        if field == "vocabulary_size" and ours != theirs + added:
            raise ValueError(
                f"expected a vocabulary of {theirs + added} tokens ({theirs} rows in {path} and {added} added), got "
                f"{ours}"
            )
        if field not in ("max_positions", "vocabulary_size") and ours != theirs:
            raise ValueError(f"expected {field} {theirs}, as {path} has, got {ours}")


def _check_names(file: WeightsFile, model: Bart, folder: BartConfig, added: int) -> dict[str, str]:
    """Return the file's names of the model's weights. Raises ValueError: some are missing, left over or misshapen."""
    theirs = {_ours(name): name for name in file.shapes}
    tied = [theirs.pop(name) for name in _TIED if name in theirs]
    if tied:
        theirs.setdefault(_SHARED, tied[0])
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    copies = any(name.startswith(_FRESH) for name in theirs)
    missing = [n for n in own if n not in theirs and n != _BIAS and (copies or not n.startswith(_FRESH))]
    left = [name for ours, name in theirs.items() if ours not in own and ours not in _NOTES]
    check_complete(file, missing, left)
    theirs = {ours: name for ours, name in theirs.items() if ours in own}
    for ours, name in theirs.items():
        expected, actual = _expected(ours, own[ours], folder, added), file.shapes[name]
        if actual != expected:
            raise ValueError(f"expected {name} of shape {expected} in {file.path}, as {CONFIG} says, got {actual}")
    return theirs


def _ours(name: str) -> str:
    """Return our name of a weight: in files of BART without its output layer, as published, names lack "model."."""
    ours = name in (_BIAS, "lm_head.weight") or name.startswith(("model.", _FRESH))
    return name if ours else f"model.{name}"


def _expected(name: str, own: tuple[int, ...], folder: BartConfig, added: int) -> tuple[int, ...]:
    """Return the shape in the folder of a weight whose shape in the model is `own`."""
    if name in _POSITIONS:
        return folder.max_positions + POSITION_OFFSET, own[1]
    if name == _SHARED:
        return own[0] - added, own[1]
    return (own[0], own[1] - added) if name == _BIAS else own


def _fitted(name: str, value: Tensor, config: BartConfig) -> Tensor:
    """Return a loaded weight with the positions and words that the model has more."""
    if name in _POSITIONS and len(value) < config.max_positions + POSITION_OFFSET:
        unused, learned = value[:POSITION_OFFSET], value[POSITION_OFFSET:]
        times = -(-config.max_positions // len(learned))
        return torch.cat((unused, learned.repeat(times, 1)[: config.max_positions]))
    if name == _SHARED and len(value) < config.vocabulary_size:
        more = value.mean(dim=0, keepdim=True).expand(config.vocabulary_size - len(value), -1)
        return torch.cat((value, more))
    if name == _BIAS and value.shape[1] < config.vocabulary_size:
        return torch.cat((value, value.new_zeros(1, config.vocabulary_size - value.shape[1])), dim=1)
    return value
