"""Version of the running code, kept in records so that people can see what made a file. It is not part of any key."""

import subprocess
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

_PROJECT = Path(__file__).parents[2]
_SECONDS = 10.0


@cache
def running_code(project: Path = _PROJECT) -> dict[str, str]:
    """Return the package's `version` and, in a checkout, the git `commit`, with "-dirty" where files are changed.

    Unknown fields are left out: if the package is not installed, the folder is not a checkout, or git is missing.
    """
    code = {}
    with suppress(metadata.PackageNotFoundError):
        code["version"] = metadata.version("wikisum")
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
