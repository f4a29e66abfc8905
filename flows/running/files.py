"""Which local files a deployment's parameters may name: who may fill in the form of a run need not read every file."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel

FILES = "WIKISUM_FILES"  # environment variable of workers: further folders, separated as in PATH
_LONGEST_PATH = 4096  # of Linux, in bytes: a longer text is not a path


def check_files(parameters: Mapping[str, Any], environment: Mapping[str, str]) -> None:
    """Raise ValueError: a parameter names a file outside the folder that the run works in and those of WIKISUM_FILES,
    by its path or by a link. URIs of other machines are let pass."""
    given = [Path(folder) for folder in environment.get(FILES, "").split(os.pathsep) if folder]
    allowed = [folder.resolve() for folder in (Path.cwd(), *given)]
    for name, value in parameters.items():
        for text in _texts(value):
            file = _file(text)
            if file is not None and not any(file.is_relative_to(folder) for folder in allowed):
                raise ValueError(
                    f"{name}: {text[:200]!r} is outside {', '.join(map(str, allowed))}: a deployment reads and writes "
                    f"below its working folder and those that {FILES} names where its worker starts"
                )


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts of a parameter, however nested."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    if isinstance(value, str | Path):
        yield str(value)
    elif isinstance(value, Mapping):
        for item in (*value.keys(), *value.values()):
            yield from _texts(item)
    elif isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
        for item in value:
            yield from _texts(item)


def _file(text: str) -> Path | None:
    """Return what a text names here, links followed: an absolute path, one with `..` or `~`, or what exists."""
    path = text
    if text[:5].lower() == "file:":
        path = unquote(urlsplit(text).path)
    elif "://" in text:
        return None
    if not path or "\0" in path or len(path.encode(errors="surrogatepass")) > _LONGEST_PATH:
        return None
    given = Path(path).expanduser() if path.startswith("~") else Path(path)
    try:
        leads_elsewhere = given.is_absolute() or ".." in given.parts or given.exists()
        return given.resolve() if leads_elsewhere else None
    except OSError:  # such as a part that is longer than a name can be
        return None
