"""The kinds of topics of the mini web, one table per kind: topic i has kind i modulo their number."""

from tasks.sources.miniweb.kinds.bridge import BRIDGE
from tasks.sources.miniweb.kinds.company import COMPANY
from tasks.sources.miniweb.kinds.film import FILM
from tasks.sources.miniweb.kinds.kind import Form, Kind
from tasks.sources.miniweb.kinds.person import PERSON
from tasks.sources.miniweb.kinds.river import RIVER
from tasks.sources.miniweb.kinds.town import TOWN

KINDS: tuple[Kind, ...] = (TOWN, PERSON, RIVER, FILM, COMPANY, BRIDGE)

__all__ = ["KINDS", "Form", "Kind"]
