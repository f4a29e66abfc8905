"""The source that the settings choose, and the web that goes with it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from tasks.sources.collection import CollectionSource
from tasks.sources.dump.source import DumpSource
from tasks.sources.encyclopedia.source import EncyclopediaSource
from tasks.sources.mediawiki import KeptAnswers, MediaWikiSource
from tasks.sources.miniweb.server import MiniwebServer
from tasks.sources.miniweb.site import MiniwebSource
from tasks.sources.records import RecordsSource
from tasks.sources.sections import SectionsSource
from tasks.sources.settings import SourceSettings
from tasks.sources.source import Partition, Source
from tasks.sources.tensor2tensor import Tensor2TensorSource

_MOST_LOOKED_INTO = 20  # partitions of which the first article is read


def open_source(settings: SourceSettings, contact: str = "", kept: KeptAnswers | None = None) -> Source:
    """Return the source that the settings choose; it opens no file before `partitions` is called. `contact` goes into
    the User-Agent of requests to a live wiki, which needs one; an interrupted planning continues from what was
    `kept`."""
    match settings.kind:
        case "miniweb":
            return MiniwebSource(settings.miniweb)
        case "records":
            return RecordsSource(settings.records, malformed=settings.malformed)
        case "dump":
            return DumpSource(settings.dump, settings.wikitext)
        case "encyclopedia":
            return EncyclopediaSource(settings.encyclopedia, settings.wikitext, malformed=settings.malformed)
        case "mediawiki":
            return MediaWikiSource(settings.mediawiki, settings.wikitext, contact=contact, kept=kept)
        case "tensor2tensor":
            return Tensor2TensorSource(settings.tensor2tensor)
        case "sections":
            return SectionsSource(settings.sections, settings.dump, settings.wikitext, malformed=settings.malformed)
        case "collection":
            return CollectionSource(settings.collection, malformed=settings.malformed)


def check_beginnings(settings: SourceSettings, partitions: Sequence[Partition]) -> None:
    """Read the first article of some partitions, so that a file of the wrong kind is reported before work starts. A
    live wiki is not checked, because that would cost requests. Raises ValueError: malformed input, naming file and
    line."""
    if settings.kind not in ("miniweb", "mediawiki"):
        source = open_source(settings)
        for partition in partitions[:: -(-len(partitions) // _MOST_LOOKED_INTO)]:
            next(source.read(partition), None)


@contextmanager
def running_web(settings: SourceSettings) -> Iterator[Mapping[str, str]]:
    """Serve the embedded web while the context lasts, if the source has one.

    Yields:
        Pattern of host -> `address:port` to which its connections go instead; empty for the real web."""
    if settings.kind != "miniweb":
        yield {}
        return
    with MiniwebServer(settings.miniweb, count_requests=False) as server:
        yield server.connect_to
