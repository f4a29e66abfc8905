"""LED, PRIMERA, T5, T5 1.1 and LongT5 from a local folder in Hugging Face's layout: config.json and the weights. The
folder's configuration is compared with the preset's before a weight is read. This module reads the weights by name, and
not the library, so that nothing is ever looked for on a network."""

from pathlib import Path

import torch
from torch import Tensor

from models.huggingface import T5, Led, LedConfig, LibrarySummarizer, T5Config, library_config
from models.json_file import MORE
from models.weights_file import (
    CONFIG,
    WeightsFile,
    check_complete,
    check_tied,
    open_weights,
    put_weights,
    read_config,
    stated_dropouts,
)

Config = LedConfig | T5Config
_ALSO, _DROPOUTS, _FREE = (MORE["huggingface"][name] for name in ("also", "dropouts", "free"))
_TIED, _NOTES = MORE["huggingface"]["tied"], MORE["huggingface"]["notes"]
_SHARED, _OUTPUTS, _BIAS = "shared.weight", "lm_head.weight", "final_logits_bias"
_STEP = 128  # T5's published matrices have rows up to a multiple of this, behind those of the tokenizer's pieces


def has_own_outputs(path: str | Path) -> bool:
    """Tell whether the outputs of a folder's T5 or LongT5 have a matrix of their own; no weight is read. They have one
    if the file holds it and the configuration does not say that it is the words': as published by
    `tie_word_embeddings`, in what transformers 5 saves by `scale_decoder_outputs`. Raises ValueError: the folder has no
    configuration or no weights."""
    stated = read_config(Path(path))
    untied = stated.get("tie_word_embeddings") is False or stated.get("scale_decoder_outputs") is False
    return untied and _OUTPUTS in open_weights(Path(path)).shapes


def check_huggingface(path: str | Path, config: Config) -> None:
    """Check that a folder can be loaded into a model of `config`; no weight is read. Raises ValueError: it cannot, with
    the name of what differs and both values."""
    path = Path(path)
    _check_sizes(path, config)
    with torch.device("meta"):
        model = Led(config) if isinstance(config, LedConfig) else T5(config)
    _names(open_weights(path), model)


def load_huggingface(model: LibrarySummarizer, path: str | Path) -> None:
    """Load the weights of a folder into `model`; nothing of it is changed unless all of them fit. A model on the device
    "meta" receives the loaded tensors themselves; make its optimizer afterwards. Raises ValueError: see
    `check_huggingface`; or what should be one matrix under several names is not."""
    path = Path(path)
    _check_sizes(path, model.config)
    file = open_weights(path)
    names = _names(file, model)
    shared = names[f"{model.prefix}.{_SHARED}"]
    tied = _tied(model)
    for name in file.shapes:
        if _bare(name, model.prefix) in tied:
            check_tied(file, name, shared)

    def value(name: str, tensor: Tensor) -> Tensor | None:
        if _bare(name, model.prefix) in tied:
            return None
        if name not in names:
            return torch.zeros(tensor.shape)
        result = file.tensor(names[name])
        return result[: len(tensor)].clone() if len(result) > len(tensor) else result

    put_weights(model, file.path, value)
    model.tie()


def _check_sizes(path: Path, config: Config) -> None:
    """Raise ValueError where the folder holds no model of the configuration."""
    kind = config.library.lower()
    file = path / CONFIG
    stated = read_config(path)
    if stated.get("model_type") != kind:
        raise ValueError(f"expected model_type {kind!r} in {file}, got {stated.get('model_type')!r}")
    stated_dropouts(stated, _DROPOUTS, file)
    ours = library_config(config)
    try:
        theirs = type(ours).from_dict(dict(stated))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from error
    if theirs.vocab_size not in _rows(config):
        rows = " or ".join(map(str, _rows(config)))
        raise ValueError(f"expected vocab_size {rows} in {file}, as the tokenizer has, got {theirs.vocab_size}")
    for name in (*(name for name in config.stated() if name not in (*_FREE, *_DROPOUTS)), *_ALSO):
        expected, actual = getattr(ours, name, None), getattr(theirs, name, None)
        if name == "attention_window" and isinstance(actual, int):
            actual = [actual] * len(expected or ())
        if actual != expected:
            raise ValueError(f"expected {name} {expected} in {file}, as the preset has, got {actual}")


def _rows(config: Config) -> tuple[int, ...]:
    """Return how many words the matrix of a folder may have; those that the tokenizer does not know are left out."""
    words = config.vocabulary_size
    padded = -(-words // _STEP) * _STEP
    return (words, padded) if isinstance(config, T5Config) and padded > words else (words,)


def _names(file: WeightsFile, model: LibrarySummarizer) -> dict[str, str]:
    """Return the name in the file of each of the model's weights, one of the tied ones. Raises ValueError: a weight is
    missing, left over or of another shape."""
    prefix, names = model.prefix, _tied(model)
    theirs = {_bare(name, prefix): name for name in file.shapes}
    tied = [theirs.pop(name) for name in names if name in theirs]
    if tied:
        theirs.setdefault(_SHARED, tied[0])
    own = {_bare(name, prefix): (name, tuple(tensor.shape)) for name, tensor in model.state_dict().items()}
    missing = [name for name in own if name not in theirs and name not in (*names, _BIAS)]
    left = [name for bare, name in theirs.items() if bare not in own and bare not in _NOTES]
    check_complete(file, missing, left)
    result = {}
    for bare, (name, shape) in own.items():
        if bare in theirs:
            allowed = [(rows, *shape[1:]) for rows in _rows(model.config)] if bare in (_SHARED, _OUTPUTS) else [shape]
            if file.shapes[theirs[bare]] not in allowed:
                raise ValueError(
                    f"expected {theirs[bare]} of shape {shape} in {file.path}, as {CONFIG} says, got "
                    f"{file.shapes[theirs[bare]]}"
                )
            result[name] = theirs[bare]
    return result


def _tied(model: LibrarySummarizer) -> tuple[str, ...]:
    """Return the names under which a file may repeat the words' matrix."""
    return tuple(name for name in _TIED if name != _OUTPUTS or not model.has_own_outputs)


def _bare(name: str, prefix: str) -> str:
    """Return a weight's name without the attribute of the library's model, which some files have and some lack."""
    return name.removeprefix(f"{prefix}.")
