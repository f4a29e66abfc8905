"""Weights as files: our own, in safetensors with tied tensors once; and those that other programs wrote, of which names
and shapes are read first, then one tensor at a time.

A file is mapped into memory, and pages of it that were read count as used while the mapping lasts. So safetensors are
opened anew for every tensor: loading needs the memory of the model and of its largest tensor. Large models are divided
into several files, which an index in their folder names."""

import hashlib
import json
import os
import pickle
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from models.json_file import LIBRARY_NAMES, read_object
from models.layers.config import check_dropout


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
    """Return the SHA-256 of a file of weights, hex. Raises ValueError: the file is missing."""
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


CONFIG, SAFETENSORS, PICKLED, INDEX = "config.json", "model.safetensors", "pytorch_model.bin", ".index.json"


@dataclass(frozen=True)
class WeightsFile:
    """A file of named tensors, or several that an index names."""

    path: Path  # of the file or the index
    shapes: Mapping[str, tuple[int, ...]]  # the shape of each tensor
    tensor: Callable[[str], Tensor]  # name -> the tensor, in memory of its own


def open_safetensors(path: Path) -> WeightsFile:
    """Open a safetensors file. Raises ValueError: it is cut off or not of this kind."""
    try:
        with safe_open(path, framework="pt") as file:
            stored = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            shapes = {name: tuple(tensor.get_shape()) for name, tensor in stored.items()}
            kinds = {name: str(tensor.get_dtype()) for name, tensor in stored.items()}
    except (SafetensorError, OSError) as error:
        raise ValueError(f"expected a whole safetensors file, {path}: {error}") from error
    _check_kinds(path, kinds, ("F64", "F32", "F16", "BF16"))

    def tensor(name: str) -> Tensor:
        with safe_open(path, framework="pt") as file:
            result: Tensor = file.get_tensor(name).clone()
        return result

    return WeightsFile(path, shapes, tensor)


def open_pickled(path: Path) -> WeightsFile:
    """Map a file of `torch.save`, without running anything that it holds. Raises ValueError: it is cut off, not of this
    kind, or holds anything but tensors by name."""
    try:
        # Files from before PyTorch 1.6 cannot be mapped.
        loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except pickle.UnpicklingError as error:
        raise ValueError(
            f"expected a file of tensors only, {path}, which may run code when it is loaded: {_first_line(error)}"
        ) from error
    except (RuntimeError, EOFError, OSError, KeyError, ValueError) as error:
        raise ValueError(f"expected a whole file of torch.save, {path}: {_first_line(error)}") from error
    if not isinstance(loaded, dict) or not all(isinstance(value, Tensor) for value in loaded.values()):
        raise ValueError(f"expected tensors by name in {path}, got {type(loaded).__name__} of something else")
    kinds = {name: str(tensor.dtype) for name, tensor in loaded.items()}
    _check_kinds(path, kinds, tuple(map(str, (torch.float64, torch.float32, torch.float16, torch.bfloat16))))
    shapes = {name: tuple(tensor.shape) for name, tensor in loaded.items()}
    return WeightsFile(path, shapes, lambda name: loaded[name].clone())


def open_sharded(path: Path, open_file: Callable[[Path], WeightsFile]) -> WeightsFile:
    """Open the files that an index names, which says which tensor is in which. Raises ValueError: the index is
    damaged, a file that it names is missing or damaged, or lacks what the index lists."""
    places = read_object(path).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise ValueError(f"expected a weight_map of tensors to files in {path}, got {str(places)[:80]!r}")
    for file in places.values():
        # Only files in the folder of the index: another path could lead anywhere on this machine.
        if not isinstance(file, str) or Path(file).name != file or not (path.parent / file).is_file():
            raise ValueError(f"expected the file {file!r}, which {path} names, in the same folder")
    files = {file: open_file(path.parent / file) for file in sorted(set(places.values()))}
    for name, file in places.items():
        if name not in files[file].shapes:
            raise ValueError(f"expected {name} in {path.parent / file}, as {path} says")
    shapes = {name: files[file].shapes[name] for name, file in places.items()}
    return WeightsFile(path, shapes, lambda name: files[places[name]].tensor(name))


def open_weights(folder: Path) -> WeightsFile:
    """Open the weights in a Hugging Face folder. Raises ValueError: there are none, or they cannot be read."""
    for name, open_file in ((SAFETENSORS, open_safetensors), (PICKLED, open_pickled)):
        if (folder / name).is_file():
            return open_file(folder / name)
        if (folder / f"{name}{INDEX}").is_file():
            return open_sharded(folder / f"{name}{INDEX}", open_file)
    raise ValueError(
        f"expected {SAFETENSORS} or {PICKLED}, or either with {INDEX}, in the folder {folder}, which has neither"
    )


def check_complete(file: WeightsFile, missing: Sequence[str], left: Sequence[str]) -> None:
    """Raise ValueError if weights of a model are missing in a file, or are left over in it."""
    for what, names in (("missing", missing), ("left over", left)):
        if names:
            raise ValueError(
                f"{len(names)} weights {what} in {file.path}: {', '.join(names[:5])}{', ...' * (len(names) > 5)}"
            )


def check_tied(file: WeightsFile, name: str, other: str) -> None:
    """Raise ValueError unless two names in a file are those of one matrix."""
    if not torch.equal(file.tensor(name), file.tensor(other)):
        raise ValueError(f"expected {name} and {other} in {file.path} to be equal, as {CONFIG} says")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _check_kinds(path: Path, kinds: Mapping[str, str], expected: tuple[str, ...]) -> None:
    """Raise ValueError if a tensor holds other numbers, as those of a quantised model do."""
    for name, kind in kinds.items():
        if kind not in expected:
            raise ValueError(f"expected {name} in {path} to hold one of {', '.join(expected)}, got {kind}")


def read_config(folder: Path) -> dict[str, Any]:
    """Return what the configuration of a folder in Hugging Face's layout states. Raises ValueError: the folder is
    missing, or its configuration cannot be read."""
    file = folder / CONFIG
    if not file.is_file():
        raise ValueError(
            f"expected a local folder with {CONFIG}, a model of Hugging Face's layout, got {str(folder)!r}"
        )
    return read_object(file)


def library_fields(kind: str, config: object) -> dict[str, Any]:
    """Return what a configuration of ours states under the library's names for a kind of model."""
    return {name: getattr(config, field) for field, names in LIBRARY_NAMES[kind].items() for name in names}


def stated_dropouts(stated: Mapping[str, Any], names: Iterable[str], file: Path) -> dict[str, float]:
    """Return which of the dropouts a configuration states. Raises ValueError: one is not a number from 0 to below 1."""
    result = {name: stated[name] for name in names if stated.get(name) is not None}
    for name, value in result.items():
        check_dropout(value, f"{name} in {file}")
    return result


def put_weights(model: nn.Module, path: Path, value: Callable[[str, Tensor], Tensor | None]) -> None:
    """Put values into the weights of a model once all are known; those on the device "meta" become the values. `value`
    returns that of a weight by its name, or None to leave it alone; `path` is the values' file, for messages. Raises
    ValueError: a value is not finite; nothing was put."""
    weights, values = model.state_dict(), dict[str, Tensor]()
    for name, tensor in weights.items():
        if (result := value(name, tensor)) is not None:
            values[name] = result.to(tensor.dtype)
            check_finite(name, values[name], path)
    for name, tensor in weights.items():
        if name in values and not tensor.is_meta:
            tensor.copy_(values.pop(name))
    model.load_state_dict(values, strict=False, assign=True)
