"""How a checkpoint's makers search with it, from a local folder in Hugging Face's layout."""

import math
from pathlib import Path

from models.json_file import read_object

# Where it is stated, the first before the others; older folders have it in the configuration of the model.
_FILES = ("generation_config.json", "config.json")


def length_penalty(folder: str | Path) -> float | None:
    """Return the exponent of the length by which the folder's makers divide a log-probability; None = unstated.

    Raises:
        ValueError: a file is no JSON object, or states something else than a number from 0.
    """
    for name in _FILES:
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
