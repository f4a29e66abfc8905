"""A JSON file that must hold an object."""

import json
from pathlib import Path
from typing import Any


def read_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file.

    Raises:
        ValueError: there is none.
    """
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except RecursionError as error:  # some thousand brackets, which no file of ours or of a library has
        raise ValueError(f"{file}: expected JSON, but it is nested too deeply") from error
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: expected JSON, but {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{file}: expected a JSON object, got {str(value)[:80]!r}")
    return value
