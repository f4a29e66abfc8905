"""The kinds of topics of the mini web, one table per kind: topic i has kind i modulo their number."""

from tasks.sources.miniweb.kinds.kind import Form, TopicKind
from tasks.sources.miniweb.kinds.makers import COMPANY, FILM, PERSON
from tasks.sources.miniweb.kinds.places import BRIDGE, RIVER, TOWN

KINDS: tuple[TopicKind, ...] = (TOWN, PERSON, RIVER, FILM, COMPANY, BRIDGE)

__all__ = ["KINDS", "Form", "TopicKind"]
