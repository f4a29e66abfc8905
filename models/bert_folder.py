"""The encoder of BERTSUM from a local folder with a BERT in Hugging Face's layout: config.json beside the weights.

Whatever stands on the encoder in the folder (its pooler, its heads) is left out.

Shapes: V vocabulary, D model size."""

from pathlib import Path

import torch
from torch import Tensor

from models.bertsum import BertSumConfig, SentenceEncoder, library_config
from models.weights_file import CONFIG, WeightsFile, check_complete, open_weights, put_weights, read_config

_KIND, _PREFIX = "bert", "bert."
# What stands on the encoder, and a buffer of old releases.
_LEFT_OUT = ("pooler.", "cls.", "classifier.", "qa_outputs.", "embeddings.position_ids")
_OLD_NAMES = {".gamma": ".weight", ".beta": ".bias"}  # of LayerNorm, as converted from TensorFlow
_POSITIONS = "embeddings.position_embeddings.weight"
# What must be as in the preset, by the library's names.
_SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
_FIXED = ("hidden_act", "type_vocab_size", "layer_norm_eps", "is_decoder")


def check_bert(path: str | Path, config: BertSumConfig) -> None:
    """Check that a folder's encoder can be loaded into a model of `config`; no weight is read.
    Raises ValueError: it cannot, with the name of what differs and both values."""
    with torch.device("meta"):
        _names(Path(path), SentenceEncoder(config))


def load_bert(encoder: SentenceEncoder, path: str | Path) -> None:
    """Load the weights of a folder into an encoder; nothing of it is changed unless all of them fit. Positions beyond
    the folder's keep the values that they were drawn with. Raises ValueError: see `check_bert`."""
    names, file = _names(Path(path), encoder)

    def value(name: str, tensor: Tensor) -> Tensor:
        found = file.tensor(names[name])
        return torch.cat((found, tensor[len(found) :].to(found.dtype))) if name == _POSITIONS else found

    put_weights(encoder.bert, file.path, value)


def _names(path: Path, encoder: SentenceEncoder) -> tuple[dict[str, str], WeightsFile]:
    """Return the name in the file of each of BERT's weights, and the file.
    Raises ValueError: the folder holds no such BERT, or a weight is missing, left over or of another shape."""
    place = path / CONFIG
    stated = read_config(path)
    if stated.get("model_type") != _KIND:
        raise ValueError(f"expected model_type {_KIND!r} in {place}, got {stated.get('model_type')!r}")
    ours = library_config(encoder.config)
    for name in (*_SIZES, *_FIXED):
        expected, found = getattr(ours, name), stated.get(name, None if name in _SIZES else getattr(ours, name))
        if found != expected:
            raise ValueError(f"expected {name} {expected!r} in {place}, as the preset has, got {found!r}")
    file = open_weights(path)
    theirs = {_bare(name): name for name in file.shapes}
    own = {name: tuple(tensor.shape) for name, tensor in encoder.bert.state_dict().items()}
    left = [name for bare, name in theirs.items() if bare not in own and not bare.startswith(_LEFT_OUT)]
    check_complete(file, [name for name in own if name not in theirs], left)
    for name, shape in own.items():
        found = file.shapes[theirs[name]]
        if found != shape and not (name == _POSITIONS and found[0] <= shape[0] and found[1:] == shape[1:]):
            raise ValueError(
                f"expected {theirs[name]} of shape {shape} in {file.path}, as the preset has, got {found}"
                + (": expected source_positions of at least the folder's" if name == _POSITIONS else "")
            )
    return theirs, file


def _bare(name: str) -> str:
    name = name.removeprefix(_PREFIX)
    for old, new in _OLD_NAMES.items():
        name = name.removesuffix(old) + new if name.endswith(old) else name
    return name
