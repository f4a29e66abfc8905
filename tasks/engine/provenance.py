"""Which code is running: for records, so that a person can tell what made a file. No key and no data depend on it."""

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

    What cannot be told is left out: a package that is not installed, a folder that is no checkout, no git.
    """
    found = {}
    with suppress(metadata.PackageNotFoundError):
        found["version"] = metadata.version("wikisum")
    top = _git(project, "rev-parse", "--show-toplevel")
    if top and Path(top).resolve() == project.resolve():  # else it is installed inside somebody else's checkout
        commit = _git(project, "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty")
        if commit:
            found["commit"] = commit
    return found


def _git(project: Path, *arguments: str) -> str:
    """Return what git answers; empty where it does not."""
    try:
        done = subprocess.run(
            ["git", "-C", str(project), *arguments], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
