"""Words, phrases, patterns and weights: data in TOML files next to the code, read once, when they are first needed."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_LINE_BREAK = re.compile(r"\n\s*")
_PART = re.compile(r"<([A-Z_]+)>")


@cache
def read_data(package: str, name: str) -> dict[str, Any]:
    """Return what a TOML file of a package holds; the caller changes none of it."""
    return tomllib.loads(files(package).joinpath(name).read_text(encoding="utf-8"))


def fill(pattern: str, parts: Mapping[str, str]) -> str:
    """Return a pattern written over several lines as one, with the part of that name for each <NAME>."""
    return _PART.sub(lambda name: fill(parts[name[1]], parts), _LINE_BREAK.sub("", pattern))
