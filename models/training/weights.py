"""Save a module's weights as one safetensors file, tied tensors once, and check a file when loading it."""

import hashlib
import json
import os
import re
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn


def save_weights(model: nn.Module, path: Path) -> None:
    """Write the parameters and persistent buffers of `model` to `path`. Tensors that share memory (tied embeddings) are
    stored once; their other names are in the file's metadata. Equal weights give equal files."""
    kept: dict[str, Tensor] = {}
    aliases: dict[str, str] = {}
    first: dict[tuple[int, tuple[int, ...], tuple[int, ...]], str] = {}
    for name, tensor in model.state_dict().items():
        identity = (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()))
        if tensor.numel() and identity in first:
            aliases[name] = first[identity]
            continue
        first[identity] = name
        kept[name] = own_memory(tensor)
    # One metadata entry only: the order of several would differ between runs.
    save_tensors(kept, path, {"aliases": json.dumps(aliases, sort_keys=True)})


def save_tensors(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write tensors to `path` as safetensors. Raises OSError: the file could not be written, as on a full disk; with
    errno and path, which the library's own error has only in its text or not at all."""
    try:
        save_file(tensors, path, metadata=metadata)
    except SafetensorError as error:
        number = re.search(r"\b(?:os error|code:) (\d+)", str(error))  # what the system said
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


def check_finite(name: str, tensor: Tensor, path: Path) -> None:
    """Raise ValueError if a tensor of `path` holds NaN or infinity, with which a model writes nothing or nonsense."""
    wrong = int((~torch.isfinite(tensor)).sum())
    if wrong:
        raise ValueError(
            f"expected finite numbers in {name} of {path}, got {wrong:,} of {tensor.numel():,} that are not"
        )


def load_weights(model: nn.Module, path: Path) -> None:
    """Load weights written by `save_weights` into `model`, in place. Raises ValueError: the file is damaged, its
    tensors do not match those of `model`, or one holds NaN or infinity."""
    try:
        with safe_open(path, framework="pt") as file:
            aliases = json.loads((file.metadata() or {}).get("aliases", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a readable safetensors file: {error}") from error
    tensors |= {name: tensors[source] for name, source in aliases.items()}
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    actual = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if actual != expected:
        wrong = sorted(name for name in expected.keys() | actual.keys() if expected.get(name) != actual.get(name))
        raise ValueError(
            f"{path} holds weights of another architecture: {len(wrong)} tensors differ, first {wrong[0]}: "
            f"expected {expected.get(wrong[0], 'none')}, found {actual.get(wrong[0], 'none')}"
        )
    for name, tensor in tensors.items():
        check_finite(name, tensor, path)
    model.load_state_dict(tensors)


def weights_digest(path: Path) -> str:
    """Return the SHA-256 of a file of weights, hex. Raises ValueError: there is no such file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"expected a file of weights, {path}: {error}") from error


def own_memory(tensor: Tensor) -> Tensor:
    """Return `tensor` contiguous on the CPU, in a storage of its own."""
    tensor = tensor.detach().to("cpu", memory_format=torch.contiguous_format).contiguous()
    shares = tensor.untyped_storage().nbytes() != tensor.numel() * tensor.element_size()
    return tensor.clone() if shares else tensor
