"""Where articles come from: the source that the settings choose, and the web that goes with it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

from pydantic import Field

from tasks.engine.settings import Settings
from tasks.sources.dump import DumpSettings, DumpSource, WikitextSettings
from tasks.sources.mediawiki import MediaWikiSettings, MediaWikiSource
from tasks.sources.miniweb import MiniwebServer, MiniwebSettings, MiniwebSource
from tasks.sources.records import RecordsSettings, RecordsSource
from tasks.sources.sections import SectionsSettings, SectionsSource
from tasks.sources.source import Article, GivenDocument, Partition, Source
from tasks.sources.tensor2tensor import Tensor2TensorSettings, Tensor2TensorSource

__all__ = [
    "Article",
    "GivenDocument",
    "Partition",
    "Source",
    "SourceSettings",
    "check_beginnings",
    "open_source",
    "running_web",
]
_MOST_LOOKED_INTO = 20  # partitions, over the whole source


class SourceSettings(Settings):
    """Which source articles come from, and the settings of each. Partitions carry digests of what they hold."""

    kind: Literal["miniweb", "records", "dump", "mediawiki", "tensor2tensor", "sections"] = Field(
        "miniweb",
        description="miniweb: a generated web, embedded; records: JSONL files of your own; dump: a MediaWiki XML dump; "
        "mediawiki: titles or a category of a live wiki; tensor2tensor: the published WikiSum shards; sections: the "
        "sections of a dump's or of JSONL articles",
    )
    miniweb: MiniwebSettings = MiniwebSettings()
    records: RecordsSettings = RecordsSettings()
    dump: DumpSettings = DumpSettings()
    wikitext: WikitextSettings = Field(
        WikitextSettings(), description="what is made of wikitext, in a dump, a live wiki or sections of a dump"
    )
    mediawiki: MediaWikiSettings = MediaWikiSettings()
    tensor2tensor: Tensor2TensorSettings = Tensor2TensorSettings()
    sections: SectionsSettings = SectionsSettings()


def open_source(settings: SourceSettings) -> Source:
    """Return the source that the settings choose; it opens nothing before it is asked for its partitions."""
    match settings.kind:
        case "miniweb":
            return MiniwebSource(settings.miniweb)
        case "records":
            return RecordsSource(settings.records)
        case "dump":
            return DumpSource(settings.dump, settings.wikitext)
        case "mediawiki":
            return MediaWikiSource(settings.mediawiki, settings.wikitext)
        case "tensor2tensor":
            return Tensor2TensorSource(settings.tensor2tensor)
        case "sections":
            return SectionsSource(settings.sections, settings.dump, settings.wikitext)


def check_beginnings(settings: SourceSettings, partitions: Sequence[Partition]) -> None:
    """Read the first article of some partitions, so that a file of another kind is named before work starts.

    A live wiki is not asked: its answers are no file, and every request takes its turn.

    Raises:
        ValueError: malformed input, naming file and line.
    """
    if settings.kind not in ("miniweb", "mediawiki"):
        source = open_source(settings)
        for partition in partitions[:: -(-len(partitions) // _MOST_LOOKED_INTO)]:
            next(source.read(partition), None)


@contextmanager
def running_web(settings: SourceSettings) -> Iterator[Mapping[str, str]]:
    """Serve the embedded web while the context lasts, where the source has one.

    Yields:
        Pattern of host -> `address:port` where its connections are to be made; empty for the real web.
    """
    if settings.kind != "miniweb":
        yield {}
        return
    with MiniwebServer(settings.miniweb, count_requests=False) as server:
        yield server.connect_to
