"""A JSON file that must hold an object, what those of a checkpoint say of the search of its makers, and how other
libraries name things in them."""

import json
import math
import tomllib
from pathlib import Path
from typing import Any

# Files that may state it, in this order; older folders have it in the configuration of the model.
_GENERATION = ("generation_config.json", "config.json")

# Our fields by their names in config.json, for each kind of model; under "more" what else its folders have.
LIBRARY_NAMES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("library_names.toml").read_text("utf-8"))
MORE: dict[str, dict[str, Any]] = LIBRARY_NAMES["more"]


def read_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file. Raises ValueError: there is none."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:  # some thousand brackets, which no file of ours or of a library has
        raise ValueError(f"{file}: expected JSON, but it is nested too deeply") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: expected JSON, but {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{file}: expected a JSON object, got {str(value)[:80]!r}")
    return value


def length_penalty(folder: str | Path) -> float | None:
    """Return the exponent of the length by which the folder's makers divide a log-probability; None = unstated. Raises
    ValueError: a file is not a JSON object, or has something other than a number from 0."""
    for name in _GENERATION:
        file = Path(folder) / name
        stated = read_object(file).get("length_penalty") if file.is_file() else None
        if stated is None:
            continue
        if isinstance(stated, bool) or not isinstance(stated, int | float) or not (0 <= stated < math.inf):
            raise ValueError(
                f"expected length_penalty in {file} to be a number from 0, got {stated!r}: set decoding.length_exponent"
            )
        return float(stated)
    return None
