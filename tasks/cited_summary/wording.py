"""Words of exports and the page for a summary's marks, systems and sources."""

from collections.abc import Iterable, Mapping
from typing import get_args

from tasks.cited_summary.cited import SummarySource
from tasks.engine.data_files import read_data
from tasks.evaluation.citations import Verdict
from tasks.evaluation.settings import Baseline
from tasks.reporting.blocks import clean

_WORDS = read_data("tasks.cited_summary", "words.toml")
MARKS: Mapping[Verdict, str] = _WORDS["marks"]
DIFFERING = "Where sources differ"
_EXTRACTIVE = get_args(Baseline)


def meaning(systems: Iterable[str]) -> str:
    """Return the meaning of the marks of these systems' sentences: what was tested, and how reliable it is."""
    copied = {system in _EXTRACTIVE for system in systems}
    told = ("tested", *["written"] * (False in copied), *["copied"] * (True in copied))
    return " ".join(_WORDS[item] for item in told)


def described(source: SummarySource) -> str:
    """Return a source for people: title, author, site and date as far as they are known, and its name."""
    return clean(", ".join(filter(None, (source.title, source.origin, source.name))))
