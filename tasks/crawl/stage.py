"""The crawl as stages: index archives file by file, and fetch pages by host shard, resuming after an interruption."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from storage.store import Store
from tasks.crawl.answers import Answers
from tasks.crawl.archive import archive_files, file_state, index_archive
from tasks.crawl.common_crawl import look_up_captures
from tasks.crawl.crawl import crawl_batches
from tasks.crawl.journal import Journal
from tasks.crawl.progress import CrawlProgress
from tasks.crawl.reused_pages import find_earlier
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.wayback import replace_dead
from tasks.engine.shard import Scratch

_ANSWERS_A_FILE = 2_000  # as many rows as a segment of the journal has


@dataclass(frozen=True)
class ArchiveFile:
    """A WARC or ARC file and its state."""

    name: str  # path or URI
    state: str  # size and modification time; if it changes, the index is made again

    def recipe(self) -> dict[str, str]:
        """Return the fields that decide the index."""
        return {"name": self.name, "state": self.state}


def find_archives(settings: CrawlSettings) -> list[ArchiveFile]:
    """Return the archive files of the settings, in order. Raises FileNotFoundError: a pattern matches nothing."""
    return [ArchiveFile(file, file_state(file)) for file in archive_files(settings)]


def index_shard(settings: CrawlSettings, *, file: ArchiveFile, host_shards: int) -> pa.Table:
    """Return the captures of one archive file (`tasks.crawl.archive.index_archive`)."""
    return index_archive(file.name, settings, host_shards=host_shards)


def look_up_shard(
    frontier: pa.Table,
    settings: CrawlSettings,
    *,
    shard: int,
    scratch: Scratch,
    connect_to: Mapping[str, str],
    progress: Callable[[CrawlProgress], None],
) -> pa.Table:
    """Return the indexes' captures of a host shard's URLs (`tasks.crawl.common_crawl.look_up_captures`)."""
    with Answers(scratch.filesystem, scratch.path, rows=_ANSWERS_A_FILE) as answers:
        return look_up_captures(
            frontier, settings, host_shard=shard, answers=answers, connect_to=connect_to, progress=progress
        )


def crawl_shard(
    frontier: pa.Table,
    settings: CrawlSettings,
    *,
    captures: pa.Table | None = None,
    indexed: pa.Table | None = None,
    shard: int,
    host_shards: int,
    root: str,
    scratch: Scratch,
    connect_to: Mapping[str, str],
    progress: Callable[[CrawlProgress], None],
) -> Iterator[pa.RecordBatch]:
    """Yield the pages of a host shard, journalling to the scratch folder (`tasks.crawl.crawl.crawl_batches`). Captures
    come from archive files (`captures`) and from an index (`indexed`). A crawl of the web reuses pages of an earlier
    one on the same root (`tasks.crawl.reused_pages`); dead links are looked up in the Internet Archive if the settings
    say so."""
    sources = [table for table in (captures, indexed) if table is not None]
    earlier = None
    if not settings.from_archives:
        earlier = find_earlier(Store(root), settings, shard=shard, host_shards=host_shards)
    with Journal(scratch.filesystem, scratch.path) as journal:
        rows = crawl_batches(
            frontier,
            pa.concat_tables(sources) if sources else None,
            settings,
            journal=journal,
            connect_to=connect_to,
            progress=progress,
            earlier=earlier,
        )
        del frontier, captures, indexed, sources  # so that the crawl can free them early
        if not settings.wayback.enabled:
            yield from rows
            return
        with Journal(scratch.filesystem, f"{scratch.path}/wayback") as earlier_pages:
            yield from replace_dead(rows, settings, journal=earlier_pages, connect_to=connect_to, earlier=earlier)
