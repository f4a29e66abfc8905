"""The kinds of topics of the mini web: topic i is of kind i modulo their number."""

from tasks.sources.miniweb.kinds.bridge import BRIDGE
from tasks.sources.miniweb.kinds.company import COMPANY
from tasks.sources.miniweb.kinds.festival import FESTIVAL
from tasks.sources.miniweb.kinds.film import FILM
from tasks.sources.miniweb.kinds.kind import Draft, Kind
from tasks.sources.miniweb.kinds.person import PERSON
from tasks.sources.miniweb.kinds.river import RIVER
from tasks.sources.miniweb.kinds.settlement import SETTLEMENT
from tasks.sources.miniweb.kinds.species import SPECIES

KINDS: tuple[Kind, ...] = (SETTLEMENT, SPECIES, PERSON, RIVER, FILM, COMPANY, BRIDGE, FESTIVAL)

__all__ = ["KINDS", "Draft", "Kind"]
