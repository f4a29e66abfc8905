"""A module's weights as one safetensors file: tied tensors are written once, and a wrong file is named as such."""

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
    """Write the parameters and persistent buffers of `model` to `path`.

    Tensors that share memory (tied embeddings) are stored once; their other names are in the file's metadata.
    Equal weights give equal bytes.
    """
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
    """Write tensors to `path` as safetensors.

    Raises:
        OSError: the system refused, as on a full disk; with its number and the path, which the library's own error
            keeps in its text or leaves out.
    """
    try:
        save_file(tensors, path, metadata=metadata)
    except SafetensorError as error:
        number = re.search(r"\b(?:os error|code:) (\d+)", str(error))  # what the system said; older versions: code
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), str(path)) from error


def load_weights(model: nn.Module, path: Path) -> None:
    """Load weights written by `save_weights` into `model`, in place.

    Raises:
        ValueError: the file is damaged, or its tensors are not those of `model`.
    """
    try:
        with safe_open(path, framework="pt") as file:
            aliases = json.loads((file.metadata() or {}).get("aliases", "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is not a readable safetensors file: {error}") from error
    tensors |= {name: tensors[source] for name, source in aliases.items()}
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if found != expected:
        wrong = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
        raise ValueError(
            f"{path} holds weights of another architecture: {len(wrong)} tensors differ, first {wrong[0]}: "
            f"expected {expected.get(wrong[0], 'none')}, found {found.get(wrong[0], 'none')}"
        )
    model.load_state_dict(tensors)


def weights_digest(path: Path) -> str:
    """Return the SHA-256 of a file of weights, hex.

    Raises:
        ValueError: there is no such file.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(f"expected a file of weights, {path}: {error}") from error


def own_memory(tensor: Tensor) -> Tensor:
    """Return `tensor` contiguous on the CPU, in a storage that holds nothing else."""
    tensor = tensor.detach().to("cpu", memory_format=torch.contiguous_format).contiguous()
    shares = tensor.untyped_storage().nbytes() != tensor.numel() * tensor.element_size()
    return tensor.clone() if shares else tensor
