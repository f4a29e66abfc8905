"""Boosted trees, evaluated by LightGBM's C library. Its Python package would import scikit-learn too, which costs each
extracting process more than a second."""

import ctypes
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_FLOAT32, _ROW_MAJOR, _PROBABILITY, _ALL_TREES = 0, 1, 0, -1  # as `LightGBM/c_api.h` numbers them
_OPTIONS = b"num_threads=1"  # a page has few blocks, and each extracting process has one core


class Trees:
    """Boosted trees as LightGBM writes them."""

    def __init__(self, text: str) -> None:
        """Read them. Raises ValueError: the text is not a model; OSError: the library is missing."""
        self._library = ctypes.CDLL(_path())
        self._library.LGBM_GetLastError.restype = ctypes.c_char_p
        self._handle = ctypes.c_void_p()
        trees = ctypes.c_int()
        self._call("BoosterLoadModelFromString", text.encode(), ctypes.byref(trees), ctypes.byref(self._handle))
        features = ctypes.c_int()
        self._call("BoosterGetNumFeature", self._handle, ctypes.byref(features))
        self._features = features.value

    def predict(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each row [N, F]. Raises ValueError: the rows have other features than the trees."""
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        if rows.ndim != 2 or rows.shape[1] != self._features:
            raise ValueError(f"rows of shape {rows.shape}: expected (N, {self._features})")
        result = np.empty(len(rows), dtype=np.float64)
        count = ctypes.c_int64()
        self._call(
            "BoosterPredictForMat",
            self._handle,
            rows.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int(_FLOAT32),
            ctypes.c_int32(rows.shape[0]),
            ctypes.c_int32(rows.shape[1]),
            ctypes.c_int(_ROW_MAJOR),
            ctypes.c_int(_PROBABILITY),
            ctypes.c_int(0),
            ctypes.c_int(_ALL_TREES),
            ctypes.c_char_p(_OPTIONS),
            ctypes.byref(count),
            result.ctypes.data_as(ctypes.c_void_p),
        )
        assert count.value == len(rows), (count.value, len(rows))
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
