"""LED, PRIMERA and LongT5 from a local folder in Hugging Face's layout: config.json beside the weights.

The folder's configuration is compared with the preset's before a weight is read, and the weights are read by name here
and not by the library, so that nothing is ever looked for on a network.
"""

from pathlib import Path

import torch
from torch import Tensor

from models.huggingface import Led, LibrarySummarizer, LongT5
from models.huggingface_configs import LedConfig, LongT5Config, led_config, longt5_config
from models.weights_file import CONFIG, WeightsFile, open_weights, put_weights, read_config

Config = LedConfig | LongT5Config
# What must be as in the preset, by the library's names; dropouts may differ.
_LED = (
    "vocab_size", "d_model", "encoder_layers", "decoder_layers", "encoder_ffn_dim", "decoder_ffn_dim",
    "encoder_attention_heads", "decoder_attention_heads", "max_encoder_position_embeddings",
    "max_decoder_position_embeddings", "attention_window", "activation_function", "pad_token_id", "bos_token_id",
    "eos_token_id", "decoder_start_token_id",
)  # fmt: skip
_LONGT5 = (
    "vocab_size", "d_model", "d_kv", "d_ff", "num_layers", "num_decoder_layers", "num_heads", "local_radius",
    "global_block_size", "feed_forward_proj", "encoder_attention_type", "relative_attention_num_buckets",
    "relative_attention_max_distance", "layer_norm_epsilon", "scale_decoder_outputs", "pad_token_id", "eos_token_id",
    "decoder_start_token_id",
)  # fmt: skip
_SHARED, _BIAS = "shared.weight", "final_logits_bias"
# Other names of the embeddings, and what the library ignores too: LongT5's cross-attention has no positions.
_TIED = ("lm_head.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")
_NOTES = ("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",)


def check_huggingface(path: str | Path, config: Config) -> None:
    """Check that a folder can be loaded into a model of `config`; no weight is read.

    Raises:
        ValueError: it cannot, with the name of what differs and both values.
    """
    path = Path(path)
    _check_sizes(path, config)
    with torch.device("meta"):
        model = Led(config) if isinstance(config, LedConfig) else LongT5(config)
    _names(open_weights(path), model)


def load_huggingface(model: LibrarySummarizer, path: str | Path) -> None:
    """Load the weights of a folder into `model`; nothing of it is changed unless all of them fit.

    A model on the device "meta" receives the loaded tensors themselves; make its optimizer afterwards.

    Raises:
        ValueError: see `check_huggingface`; or what should be one matrix under several names is not.
    """
    path = Path(path)
    _check_sizes(path, model.config)
    file = open_weights(path)
    names = _names(file, model)
    shared = names[f"{model.prefix}.{_SHARED}"]
    for name in file.shapes:
        if _bare(name, model.prefix) in _TIED and not torch.equal(file.tensor(name), file.tensor(shared)):
            raise ValueError(f"expected {name} and {shared} in {file.path} to be equal, as {CONFIG} says")

    def value(name: str, tensor: Tensor) -> Tensor | None:
        if _bare(name, model.prefix) in _TIED:
            return None
        return file.tensor(names[name]) if name in names else torch.zeros(tensor.shape)

    put_weights(model, value)
    model.tie()


def _check_sizes(path: Path, config: Config) -> None:
    """Raise ValueError where the folder holds no model of the configuration."""
    kind = "led" if isinstance(config, LedConfig) else "longt5"
    file = path / CONFIG
    stated = read_config(path)
    if stated.get("model_type") != kind:
        raise ValueError(f"expected model_type {kind!r} in {file}, got {stated.get('model_type')!r}")
    ours = led_config(config) if isinstance(config, LedConfig) else longt5_config(config)
    try:
        theirs = type(ours).from_dict(dict(stated))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from error
    for name in _LED if kind == "led" else _LONGT5:
        expected, found = getattr(ours, name, None), getattr(theirs, name, None)
        if name == "attention_window" and isinstance(found, int):
            found = [found] * len(expected or ())
        if found != expected:
            raise ValueError(f"expected {name} {expected} in {file}, as the preset has, got {found}")


def _names(file: WeightsFile, model: LibrarySummarizer) -> dict[str, str]:
    """Return the name in the file of each of the model's weights, one of the tied ones.

    Raises:
        ValueError: a weight is missing, left over or of another shape.
    """
    prefix = model.prefix
    theirs = {_bare(name, prefix): name for name in file.shapes}
    tied = [theirs.pop(name) for name in _TIED if name in theirs]
    if tied:
        theirs.setdefault(_SHARED, tied[0])
    own = {_bare(name, prefix): (name, tuple(tensor.shape)) for name, tensor in model.state_dict().items()}
    missing = [name for name in own if name not in theirs and name not in (*_TIED, _BIAS)]
    left = [name for bare, name in theirs.items() if bare not in own and bare not in _NOTES]
    for what, names in (("missing", missing), ("left over", left)):
        if names:
            raise ValueError(
                f"{len(names)} weights {what} in {file.path}: {', '.join(names[:5])}{', ...' * (len(names) > 5)}"
            )
    found = {}
    for bare, (name, shape) in own.items():
        if bare in theirs:
            if file.shapes[theirs[bare]] != shape:
                raise ValueError(
                    f"expected {theirs[bare]} of shape {shape} in {file.path}, as {CONFIG} says, got "
                    f"{file.shapes[theirs[bare]]}"
                )
            found[name] = theirs[bare]
    return found


def _bare(name: str, prefix: str) -> str:
    """Return a weight's name without the attribute of the library's model, which some files have and some lack."""
    return name.removeprefix(f"{prefix}.")
