"""Weights that other programs wrote: names and shapes first, then one tensor at a time.

A file is mapped into memory, and pages of it that were read count as used while the mapping lasts. So safetensors are
opened anew for every tensor: loading needs the memory of the model and of its largest tensor. Large models are divided
into several files, which an index beside them names.
"""

import pickle
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from models.json_file import read_object
from models.layers.config import check_dropout
from models.training.weights import check_finite

CONFIG, SAFETENSORS, PICKLED, INDEX = "config.json", "model.safetensors", "pytorch_model.bin", ".index.json"


class WeightsFile(ABC):
    """A file of named tensors."""

    path: Path  # the file
    shapes: dict[str, tuple[int, ...]]  # the shape of each tensor

    @abstractmethod
    def tensor(self, name: str) -> Tensor:
        """Return one tensor, in memory of its own."""


class Safetensors(WeightsFile):
    """A safetensors file."""

    def __init__(self, path: Path) -> None:
        """Read names and shapes. Raises ValueError: the file is cut off or not of this kind."""
        self.path = path
        try:
            with safe_open(path, framework="pt") as file:
                stored = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
                self.shapes = {name: tuple(tensor.get_shape()) for name, tensor in stored.items()}
                kinds = {name: str(tensor.get_dtype()) for name, tensor in stored.items()}
        except (SafetensorError, OSError) as error:
            raise ValueError(f"expected a whole safetensors file, {path}: {error}") from error
        _check_kinds(path, kinds, ("F64", "F32", "F16", "BF16"))

    def tensor(self, name: str) -> Tensor:
        """Return one tensor."""
        with safe_open(self.path, framework="pt") as file:
            found: Tensor = file.get_tensor(name).clone()
        return found


class Pickled(WeightsFile):
    """A file of `torch.save`, read without running anything that it holds."""

    def __init__(self, path: Path) -> None:
        """Map the tensors.
        Raises ValueError: the file is cut off, not of this kind, or holds anything but tensors by name.
        """
        self.path = path
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
        self._tensors: dict[str, Tensor] = loaded
        self.shapes = {name: tuple(tensor.shape) for name, tensor in loaded.items()}
        kinds = {name: str(tensor.dtype) for name, tensor in loaded.items()}
        _check_kinds(path, kinds, tuple(map(str, (torch.float64, torch.float32, torch.float16, torch.bfloat16))))

    def tensor(self, name: str) -> Tensor:
        """Return one tensor."""
        return self._tensors[name].clone()


class Sharded(WeightsFile):
    """Weights in several files, with an index that says which tensor is in which."""

    def __init__(self, path: Path, open_file: Callable[[Path], WeightsFile]) -> None:
        """Open the files that an index names.
        Raises ValueError: the index is no index, a file that it names is missing or damaged, or has not what it says.
        """
        self.path = path
        places = read_object(path).get("weight_map")
        if not isinstance(places, dict) or not places:
            raise ValueError(f"expected a weight_map of tensors to files in {path}, got {str(places)[:80]!r}")
        for file in places.values():
            # Only files beside the index: another path could lead anywhere on this machine.
            if not isinstance(file, str) or Path(file).name != file or not (path.parent / file).is_file():
                raise ValueError(f"expected the file {file!r}, which {path} names, beside it")
        files = {file: open_file(path.parent / file) for file in sorted(set(places.values()))}
        for name, file in places.items():
            if name not in files[file].shapes:
                raise ValueError(f"expected {name} in {path.parent / file}, as {path} says")
        self._files = {name: files[file] for name, file in places.items()}
        self.shapes = {name: file.shapes[name] for name, file in self._files.items()}

    def tensor(self, name: str) -> Tensor:
        """Return one tensor."""
        return self._files[name].tensor(name)


def open_weights(folder: Path) -> WeightsFile:
    """Open the weights in a Hugging Face folder. Raises ValueError: there are none, or they cannot be read."""
    for name, kind in ((SAFETENSORS, Safetensors), (PICKLED, Pickled)):
        if (folder / name).is_file():
            return kind(folder / name)
        if (folder / f"{name}{INDEX}").is_file():
            return Sharded(folder / f"{name}{INDEX}", kind)
    raise ValueError(
        f"expected {SAFETENSORS} or {PICKLED}, or either with {INDEX}, in the folder {folder}, which has neither"
    )


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _check_kinds(path: Path, kinds: Mapping[str, str], expected: tuple[str, ...]) -> None:
    """Raise ValueError if a tensor holds other numbers, as those of a quantised model do."""
    for name, kind in kinds.items():
        if kind not in expected:
            raise ValueError(f"expected {name} in {path} to hold one of {', '.join(expected)}, got {kind}")


def read_config(folder: Path) -> dict[str, Any]:
    """Return what the configuration of a folder in Hugging Face's layout states.
    Raises ValueError: there is no such folder, or its configuration cannot be read.
    """
    file = folder / CONFIG
    if not file.is_file():
        raise ValueError(
            f"expected a local folder with {CONFIG}, a model of Hugging Face's layout, got {str(folder)!r}"
        )
    return read_object(file)


def stated_dropouts(stated: Mapping[str, Any], names: Iterable[str], file: Path) -> dict[str, float]:
    """Return the dropouts that a configuration states.

    Args:
        stated: the configuration.
        names: what they are called in it; one that it lacks is not in the result.
        file: where it was read.

    Raises:
        ValueError: one is no number from 0 to below 1.
    """
    found = {name: stated[name] for name in names if stated.get(name) is not None}
    for name, value in found.items():
        check_dropout(value, f"{name} in {file}")
    return found


def put_weights(model: nn.Module, path: Path, value: Callable[[str, Tensor], Tensor | None]) -> None:
    """Put values into the weights of a model once all are known; those on the device "meta" become the values.

    Args:
        model: the model.
        path: of the values' file, for messages.
        value: (name, weight) -> its value, or None to leave it alone.

    Raises:
        ValueError: a value is not finite; nothing was put.
    """
    weights, values = model.state_dict(), dict[str, Tensor]()
    for name, tensor in weights.items():
        if (found := value(name, tensor)) is not None:
            values[name] = found.to(tensor.dtype)
            check_finite(name, values[name], path)
    for name, tensor in weights.items():
        if name in values and not tensor.is_meta:
            tensor.copy_(values.pop(name))
    model.load_state_dict(values, strict=False, assign=True)
