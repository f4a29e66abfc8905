"""Versions of code and libraries, kept in records. They are in no key, so that new ones recompute nothing, unless
somebody asks for it (`tasks.engine.libraries`)."""

import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from tasks.engine.data_files import read_data

_PROJECT = Path(__file__).parents[2]
_SECONDS = 10.0
# Libraries by the stages that they decide. Nearly all stages also use numpy and pyarrow.
DECIDING: Mapping[str, list[str]] = read_data("tasks.engine", "libraries.toml")
LIBRARIES = frozenset(library for libraries in DECIDING.values() for library in libraries)


@cache
def running_code(project: Path = _PROJECT) -> dict[str, str]:
    """Return the package's `version`, the git `commit` of a checkout (with "-dirty" where files are changed), and the
    versions of `python` and of the libraries that decide what a stage makes, each by its name. Unknown fields are left
    out: if a package is not installed, the folder is not a checkout, or git is missing."""
    code = {"python": platform.python_version()}
    libraries = sorted({*LIBRARIES, "numpy", "pyarrow"})
    for name, package in [("version", "wikisum"), *zip(libraries, libraries, strict=True)]:
        with suppress(metadata.PackageNotFoundError):
            code[name] = metadata.version(package)
    top = _git(project, "rev-parse", "--show-toplevel")
    if top and Path(top).resolve() == project.resolve():  # else it is installed inside another project's checkout
        commit = _git(project, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
        if commit:
            code["commit"] = commit
    return code


def _git(project: Path, *arguments: str) -> str:
    """Return the output of a git command; empty if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(project), *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
