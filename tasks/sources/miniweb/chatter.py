"""Texts of pages besides the facts (`chatter.toml`): discourse markers, and paragraphs that state no fact."""

from tasks.engine.data_files import read_data
from tasks.sources.miniweb.names import lines, words

_TEXTS = read_data("tasks.sources.miniweb", "chatter.toml")
MARKERS = tuple(f"{marker}," for marker in words(_TEXTS["markers"], "/"))
LINKS, MENTIONS, REMARKS = (lines(_TEXTS[kind]) for kind in ("links", "mentions", "remarks"))
FORUM_NAMES, DAYS = _TEXTS["forum_names"], _TEXTS["days"]
