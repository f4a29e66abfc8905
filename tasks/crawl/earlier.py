"""What an earlier crawl of the same hosts found: pages taken over as they are, or kept as their server confirms them.

A crawl of a host shard takes over what the newest earlier crawl of that shard has, so that one new URL costs one
request. Only addresses, validators and times are held; bodies are read again, in order, when the new shard is written.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
from pydantic import ValidationError

from storage.errors import CorruptShardError
from storage.recipes import ShardRecord, find_record
from storage.schemas import PAGES
from storage.store import Store
from tasks.crawl.settings import CrawlSettings

logger = logging.getLogger(__name__)

# RFC 9110, 8.8.3. A server's `*` sent back to it would make it confirm whatever it has.
_ENTITY_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]{0,1000}"')
_LOOKED_AT = [
    "url", "reason", "final_url", "sha256", "etag", "last_modified", "fetched_at", "stale_reason", "archive",
]  # fmt: skip
# They decide which pages are fetched, or when one counts as failed; a page that was fetched is the same under all.
_FETCH_ONLY = frozenset(
    {"refresh", "budget_seconds", "budget_bytes", "budget_pages", "mirror_hosts", "host_failure_limit",
     "max_crawl_delay_seconds", "read_seconds", "total_seconds", "max_decoded_archive_bytes", "wayback"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredPage:
    """What is held of a page with a body.

    Attributes:
        final_url: URL that gave the body; its validators belong to it.
        sha256: digest of the body.
        etag: ETag response header that may be sent back, or None.
        last_modified: Last-Modified response header that may be sent back, or None.
        fetched_at: when its server last gave or confirmed it, seconds since 1970.
        due: whether its server is to be asked for it again.
        archived: whether it was taken from an archive.
    """

    final_url: str
    sha256: str
    etag: str | None
    last_modified: str | None
    fetched_at: float
    due: bool
    archived: bool

    @property
    def validators(self) -> dict[str, str]:
        """Return the headers of a conditional request (RFC 9110, 13.1); empty where it has to be asked for again."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value is not None}

    def contradicted_by(self, etag: str | None) -> bool:
        """Say whether the ETag of a 304 shows that another body than this one was confirmed (RFC 9111, 4.3.4)."""
        return etag is not None and self.etag is not None and etag.removeprefix("W/") != self.etag.removeprefix("W/")


class EarlierPages:
    """The pages with a body of an earlier shard."""

    def __init__(self, store: Store, record: ShardRecord, settings: CrawlSettings) -> None:
        """Check the shard's bytes and read all but the bodies.

        Args:
            store: where it lies.
            record: its record.
            settings: settings of the crawl that is to take over from it.

        Raises:
            CorruptShardError: the file is gone, cut short or changed.
        """
        self._store = store
        self._record = record
        refreshed = record.settings["refresh"] != settings.refresh
        young = (datetime.now(UTC) - timedelta(days=settings.fresh_days)).timestamp()
        same_archive = CrawlSettings(**_fields(record)).recipe()["wayback"] == settings.recipe()["wayback"]
        self._pages: dict[str, StoredPage] = {}
        for batch in store.read_batches(record.path, record.written.sha256, _LOOKED_AT):
            for row in batch.to_pylist():
                if row["reason"] is None and (row["archive"] is None or same_archive):
                    self._pages[row["url"]] = _stored(row, refreshed, young)

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, url: str) -> StoredPage | None:
        """Return the page of a URL, or None where the earlier crawl has no body for it."""
        return self._pages.get(url)

    def reader(self) -> "EarlierReader":
        """Return a reader of whole rows."""
        return EarlierReader(self._store.read_batches(self._record.path, self._record.written.sha256))


class EarlierReader:
    """Reads the rows of an earlier shard in order of URL; one batch is in memory at a time."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._batch: pa.RecordBatch | None = None
        self._places: dict[str, int] = {}

    def complete(self, url: str, row: pa.RecordBatch | None) -> pa.RecordBatch:
        """Return the whole row of a URL that the earlier shard has; URLs must come in the shard's order.

        Args:
            url: URL of the row.
            row: the row as `tasks.crawl.visit.page_row` makes it of a stored page, or None to take the earlier row as
                it is.

        Raises:
            CorruptShardError: the file has been damaged since it was opened.
        """
        while self._batch is None or url not in self._places:
            self._batch = None  # or two were held while the next one is read
            self._batch = next(self._batches)
            self._places = {each: place for place, each in enumerate(self._batch.column("url").to_pylist())}
        whole = self._batch.take(pa.array([self._places[url]]))  # a slice would hold all of the batch
        newer = () if row is None else ("stale_reason",) if _is_stale(row) else _OF_A_REQUEST
        columns = [
            row.column(name) if row is not None and name in newer else whole.column(name) for name in PAGES.schema.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=PAGES.schema)


_OF_A_REQUEST = ("fetched_at", "seconds", "attempts", "stale_reason")


def _is_stale(row: pa.RecordBatch) -> bool:
    return bool(row.column("stale_reason").is_valid()[0].as_py())


def find_earlier(store: Store, settings: CrawlSettings, *, shard: int, host_shards: int) -> EarlierPages | None:
    """Return the pages of the newest earlier shard that this crawl may take over, or None.

    Not taken from: a shard of another number of host shards, or of settings under which a page might be another; a
    shard that turns out damaged is left, with a warning, for the next older one.

    Args:
        store: root of the build.
        settings: settings of the crawl.
        shard: host shard.
        host_shards: number of host shards.
    """
    for record in _records(store, shard):
        if not _comparable(record, settings, host_shards):
            logger.info("%s is of another crawl's settings: nothing is taken over from it", record.path)
            continue
        try:
            earlier = EarlierPages(store, record, settings)
        except CorruptShardError as damage:
            logger.warning("%s; nothing is taken over from it", damage)
            continue
        logger.info("%d pages of %s are taken over or asked for conditionally", len(earlier), record.path)
        return earlier
    return None


def _records(store: Store, shard: int) -> Iterator[ShardRecord]:
    """Yield the records of a host shard, newest first."""
    selector = pafs.FileSelector(store.path(PAGES.name), allow_not_found=True)
    infos = [info for info in store.filesystem.get_file_info(selector) if info.type == pafs.FileType.File]
    sizes = {info.base_name: info.size for info in infos}
    records = [info for info in infos if re.fullmatch(rf"part-{shard:05d}\.[0-9a-f]+\.json", info.base_name)]
    for info in sorted(records, key=lambda info: (info.mtime_ns, info.base_name), reverse=True):
        record = find_record(store, sizes, PAGES.name, shard, info.base_name.split(".")[1])
        if record is not None:
            yield record


def _comparable(record: ShardRecord, settings: CrawlSettings, host_shards: int) -> bool:
    if record.version != PAGES.version or record.settings.get("host_shards") != host_shards:
        return False
    try:
        theirs, ours = CrawlSettings(**_fields(record)).recipe(), settings.recipe()
    except ValidationError:
        return False
    return all(theirs[name] == ours[name] for name in ours if name not in _FETCH_ONLY)


def _fields(record: ShardRecord) -> dict[str, Any]:
    return {name: value for name, value in record.settings.items() if name in CrawlSettings.model_fields}


def _stored(row: dict[str, Any], refreshed: bool, young: float) -> StoredPage:
    fetched_at = 0.0 if row["fetched_at"] is None else row["fetched_at"].timestamp()
    # Those of an archived page are the archive's, or of another time.
    etag, modified = (row["etag"], row["last_modified"]) if row["archive"] is None else (None, None)
    return StoredPage(
        row["final_url"],
        row["sha256"],
        etag if etag is not None and _ENTITY_TAG.fullmatch(etag) else None,
        modified if modified is not None and _is_date(modified) else None,
        fetched_at,
        (refreshed or row["stale_reason"] is not None) and fetched_at <= young,
        row["archive"] is not None,
    )


def _is_date(header: str) -> bool:
    try:
        parsedate_to_datetime(header)
    except ValueError:
        return False
    return header.isascii() and header.isprintable()
