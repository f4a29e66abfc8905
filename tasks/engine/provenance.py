"""Versions of code and libraries, kept in records for people: they are in no key, so new ones recompute nothing."""

import platform
import subprocess
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

_PROJECT = Path(__file__).parents[2]
_SECONDS = 10.0
# Another version of one of these may give another text, token, number or weight.
_LIBRARIES = (
    *("beautifulsoup4", "charset-normalizer", "justext", "lxml", "mwparserfromhell", "numpy", "py3langid", "pyarrow"),
    *("pypdfium2", "pyspellchecker", "rensa", "rouge-score", "scikit-learn", "scipy"),
    *("sentencepiece", "sentencex", "spacy", "tld"),
    *("tokenizers", "torch", "trafilatura", "transformers"),
)


@cache
def running_code(project: Path = _PROJECT) -> dict[str, str]:
    """Return the package's `version`, the git `commit` of a checkout (with "-dirty" where files are changed), and the
    versions of `python` and of the libraries that decide what a stage makes, each by its name. Unknown fields are left
    out: if a package is not installed, the folder is not a checkout, or git is missing."""
    code = {"python": platform.python_version()}
    for name, package in [("version", "wikisum"), *((library, library) for library in _LIBRARIES)]:
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
