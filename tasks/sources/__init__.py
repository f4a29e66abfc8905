"""Where articles come from: the source that the settings choose, and the web that goes with it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal

from pydantic import Field

from tasks.settings import Settings
from tasks.sources.miniweb import MiniwebServer, MiniwebSettings, MiniwebSource
from tasks.sources.records import RecordsSettings, RecordsSource
from tasks.sources.source import Article, Partition, Source

__all__ = ["Article", "Partition", "Source", "SourceSettings", "open_source", "running_web"]


class SourceSettings(Settings):
    """Which source articles come from, and the settings of each. Partitions carry digests of what they hold."""

    kind: Literal["miniweb", "records"] = Field(
        "miniweb", description="miniweb: a generated web, embedded; records: JSONL files of your own"
    )
    miniweb: MiniwebSettings = MiniwebSettings()
    records: RecordsSettings = RecordsSettings()


def open_source(settings: SourceSettings) -> Source:
    """Return the source that the settings choose; it opens nothing before it is asked for its partitions."""
    if settings.kind == "miniweb":
        return MiniwebSource(settings.miniweb)
    return RecordsSource(settings.records)


@contextmanager
def running_web(settings: SourceSettings) -> Iterator[Mapping[str, str]]:
    """Serve the embedded web while the context lasts, where the source has one.

    Yields:
        Pattern of host -> `address:port` where its connections are to be made; empty for the real web.

    Raises:
        OSError: the port of the embedded web is taken.
    """
    if settings.kind != "miniweb":
        yield {}
        return
    with MiniwebServer(settings.miniweb, count_requests=False) as server:
        yield server.connect_to
