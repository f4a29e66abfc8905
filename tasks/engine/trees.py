"""Decision trees as LightGBM writes them, evaluated by its C library. Its Python package would import scikit-learn too,
which costs each extracting process more than a second.

M: nodes of a tree. T: trees. N: rows. F: features."""

import ctypes
import weakref
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

_TYPES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}  # these four as `LightGBM/c_api.h` numbers them
_ROW_MAJOR, _PROBABILITY, _ALL_TREES = 1, 0, -1
_OPTIONS = b"num_threads=1"  # rows are few, and each process has one core
_LEAF = -1


class Nodes(NamedTuple):
    """The nodes of one tree, the root first."""

    feature: ArrayLike  # [M] int, which feature a node compares; -1 for a leaf
    threshold: ArrayLike  # [M] float, a row whose feature is at most this goes left
    left: ArrayLike  # [M] int, the next node; of a leaf any number
    right: ArrayLike  # [M] int
    value: ArrayLike  # [M] float, what a leaf adds; of other nodes any number


def model_text(trees: Iterable[Nodes], features: int, *, mean: bool = False) -> str:
    """Return trees over so many features in LightGBM's format; their prediction is the sum of a row's leaves, or with
    `mean` their mean."""
    blocks = [f"Tree={number}\n{_tree(nodes)}\nshrinkage=1\n\n\n" for number, nodes in enumerate(trees)]
    head = [
        *("tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0"),
        *(f"max_feature_idx={features - 1}", *(["average_output"] if mean else [])),
        f"feature_names={' '.join(f'f{number}' for number in range(features))}",
        f"feature_infos={' '.join(['none'] * features)}",
        f"tree_sizes={' '.join(str(len(block)) for block in blocks)}",
    ]
    return "\n".join(head) + "\n\n" + "".join(blocks) + "end of trees\n"


def _tree(nodes: Nodes) -> str:
    feature, threshold, left, right, value = map(np.asarray, nodes)
    leaves, inner = np.flatnonzero(feature == _LEAF), np.flatnonzero(feature != _LEAF)
    names = np.empty(len(feature), np.int64)  # in the format, inner nodes count from 0 and leaves from -1 down
    names[inner], names[leaves] = np.arange(len(inner)), ~np.arange(len(leaves))
    fields: dict[str, Sequence[Any]] = {"num_leaves": [len(leaves)], "num_cat": [0]}
    if len(inner):
        fields |= {"split_feature": feature[inner].tolist(), "threshold": threshold[inner].tolist()}
        fields |= {"decision_type": [0] * len(inner)}  # numbers, none of which is missing
        fields |= {"left_child": names[left[inner]].tolist(), "right_child": names[right[inner]].tolist()}
    fields["leaf_value"] = value[leaves].tolist()
    return "\n".join(f"{name}={' '.join(map(repr, values))}" for name, values in fields.items())


class Trees:
    """Decision trees: boosted ones, or a random forest."""

    def __init__(self, text: str) -> None:
        """Read them. Raises ValueError: the text is not a model; OSError: the library is missing."""
        self.text = text
        self._library = ctypes.CDLL(_path())
        self._library.LGBM_GetLastError.restype = ctypes.c_char_p
        self._handle = ctypes.c_void_p()
        trees = ctypes.c_int()
        self._call("BoosterLoadModelFromString", text.encode(), ctypes.byref(trees), ctypes.byref(self._handle))
        weakref.finalize(self, self._library.LGBM_BoosterFree, self._handle)
        features = ctypes.c_int()
        self._call("BoosterGetNumFeature", self._handle, ctypes.byref(features))
        self._features = features.value

    def predict(self, rows: NDArray[np.float32] | NDArray[np.float64]) -> NDArray[np.float64]:
        """Return [N], what the trees predict of each row [N, F]; of trees that classify, the probability. Raises
        ValueError: the rows have other features than the trees."""
        table: NDArray[Any] = np.ascontiguousarray(rows)
        if table.ndim != 2 or table.shape[1] != self._features:
            raise ValueError(f"rows of shape {table.shape}: expected (N, {self._features})")
        result = np.empty(len(table), dtype=np.float64)
        count = ctypes.c_int64()
        self._call(
            "BoosterPredictForMat",
            self._handle,
            table.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int(_TYPES[table.dtype]),
            ctypes.c_int32(table.shape[0]),
            ctypes.c_int32(table.shape[1]),
            ctypes.c_int(_ROW_MAJOR),
            ctypes.c_int(_PROBABILITY),
            ctypes.c_int(0),
            ctypes.c_int(_ALL_TREES),
            ctypes.c_char_p(_OPTIONS),
            ctypes.byref(count),
            result.ctypes.data_as(ctypes.c_void_p),
        )
        assert count.value == len(table), (count.value, len(table))
        return result

    def _call(self, name: str, *arguments: object) -> None:
        if getattr(self._library, f"LGBM_{name}")(*arguments):
            raise ValueError(f"LightGBM: {self._library.LGBM_GetLastError().decode(errors='replace')}")


def _path() -> str:
    """Return the path of the library, which is in the package's folder `lib` or `bin`, or above it. Raises OSError: it
    is in none."""
    spec = find_spec("lightgbm")
    for folder in map(Path, (spec.submodule_search_locations or ()) if spec else ()):
        for below in (folder / "lib", folder / "bin", folder.parent):
            for path in below.glob("lib_lightgbm.*"):
                return str(path)
    raise OSError("lib_lightgbm is missing: expected the package lightgbm, version 4.5 or later")
