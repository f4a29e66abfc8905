"""Weights that other programs wrote: names and shapes first, then one tensor at a time.

A file is mapped into memory, and pages of it that were read count as used while the mapping lasts. So safetensors are
opened anew for every tensor: loading needs the memory of the model and of its largest tensor.
"""

import pickle
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from models.json_file import read_object

CONFIG, SAFETENSORS, PICKLED = "config.json", "model.safetensors", "pytorch_model.bin"


class WeightsFile(ABC):
    """A file of named tensors.

    Attributes:
        path: the file.
        shapes: the shape of each tensor.
    """

    path: Path
    shapes: dict[str, tuple[int, ...]]

    @abstractmethod
    def tensor(self, name: str) -> Tensor:
        """Return one tensor, in memory of its own."""


class Safetensors(WeightsFile):
    """A safetensors file."""

    def __init__(self, path: Path) -> None:
        """Read names and shapes.

        Raises:
            ValueError: the file is cut off or not of this kind.
        """
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

        Raises:
            ValueError: the file is cut off, not of this kind, or holds anything but tensors by name.
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


def open_weights(folder: Path) -> WeightsFile:
    """Open the weights in a Hugging Face folder.

    Raises:
        ValueError: there are none, or they cannot be read.
    """
    if (folder / SAFETENSORS).is_file():
        return Safetensors(folder / SAFETENSORS)
    if (folder / PICKLED).is_file():
        return Pickled(folder / PICKLED)
    raise ValueError(f"expected {SAFETENSORS} or {PICKLED} in the folder {folder}, which has neither")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _check_kinds(path: Path, kinds: Mapping[str, str], expected: tuple[str, ...]) -> None:
    """Raise ValueError if a tensor holds other numbers, as those of a quantised model do."""
    for name, kind in kinds.items():
        if kind not in expected:
            raise ValueError(f"expected {name} in {path} to hold one of {', '.join(expected)}, got {kind}")


def read_config(folder: Path) -> dict[str, Any]:
    """Return what the configuration of a folder in Hugging Face's layout states.

    Raises:
        ValueError: there is no such folder, or its configuration cannot be read.
    """
    file = folder / CONFIG
    if not file.is_file():
        raise ValueError(
            f"expected a local folder with {CONFIG}, a model of Hugging Face's layout, got {str(folder)!r}"
        )
    return read_object(file)


def put_weights(model: nn.Module, value: Callable[[str, Tensor], Tensor | None]) -> None:
    """Put values into the weights of a model, one after another; those on the device "meta" become the values.

    Args:
        model: the model.
        value: (name, weight) -> its value, or None to leave it alone.
    """
    assigned = {}
    for name, tensor in model.state_dict().items():
        found = value(name, tensor)
        if found is not None and tensor.is_meta:
            assigned[name] = found.to(tensor.dtype)
        elif found is not None:
            tensor.copy_(found)
    model.load_state_dict(assigned, strict=False, assign=True)
