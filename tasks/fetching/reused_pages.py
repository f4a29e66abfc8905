"""Reuse the pages of an earlier crawl of the same hosts, unchanged or after their server has confirmed them. A crawl of
a host shard reuses the pages of the newest earlier crawl of that shard, so that one new URL costs one request. Only
URLs, validators and times are in memory; bodies are read again, in order, when the new shard is written."""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from storage.errors import CorruptShardError
from storage.recipes import ShardRecord, newest_records
from storage.schemas import PAGES
from storage.store import Store
from tasks.fetching.journal import Journal
from tasks.fetching.settings import CrawlSettings
from tasks.rights.reservations import of_other_files

logger = logging.getLogger(__name__)

# RFC 9110, 8.8.3. A `*` from a server is not sent back: it would confirm any page.
_ENTITY_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]{0,1000}"')
_LOOKED_AT = ["url", "reason", "final_url", "sha256", "etag", "last_modified", "fetched_at", "stale_reason", "archive"]
# They decide which pages are fetched, or when one counts as failed; a page that was fetched is the same under all.
_FETCH_ONLY = frozenset(
    {
        "refresh",
        "budget_seconds",
        "budget_pages",
        "budget_domain_pages",
        "mirror_hosts",
        "max_decoded_archive_bytes",
        "wayback",
    }
)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page with a body in the earlier crawl, without the body."""

    final_url: str  # URL of the body, after redirects; the validators belong to it
    sha256: str  # digest of the body
    etag: str | None  # ETag response header that may be sent back, or None
    last_modified: str | None  # Last-Modified response header that may be sent back, or None
    fetched_at: float  # when its server last sent or confirmed it, seconds since 1970
    due: bool  # whether it must be requested again
    archived: bool  # whether it was taken from an archive

    @property
    def validators(self) -> dict[str, str]:
        """Return the headers of a conditional request (RFC 9110, 13.1); empty without validators."""
        headers = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in headers.items() if value is not None}

    def contradicted_by(self, etag: str | None) -> bool:
        """Tell whether the ETag of a 304 shows that a body other than this one was confirmed (RFC 9111, 4.3.4)."""
        return etag is not None and self.etag is not None and etag.removeprefix("W/") != self.etag.removeprefix("W/")


class EarlierPages:
    """The pages with a body of an earlier shard."""

    def __init__(self, store: Store, record: ShardRecord, settings: CrawlSettings) -> None:
        """Read all columns except the bodies. Raises CorruptShardError: the file is gone, cut short or changed."""
        self._store = store
        self._record = record
        refreshed = record.settings["refresh"] != settings.refresh
        same_archive = record.settings["wayback"] == settings.recipe()["wayback"]
        self._pages: dict[str, StoredPage] = {}
        for batch in store.read_batches(record.path, record.written.sha256, _LOOKED_AT):
            for row in batch.to_pylist():
                if row["reason"] is None and (row["archive"] is None or same_archive):
                    self._pages[row["url"]] = _stored(row, refreshed)

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, url: str) -> StoredPage | None:
        """Return the page of a URL, or None if the earlier crawl has no body for it."""
        return self._pages.get(url)

    def completing(self) -> Callable[[str, pa.RecordBatch | None], pa.RecordBatch]:
        """Return a function that returns the whole row of a URL, to be called in the shard's order; a row of None is
        unchanged. One batch is in memory at a time. It raises CorruptShardError."""
        batches = self._store.read_batches(self._record.path, self._record.written.sha256)
        batch: pa.RecordBatch | None = None
        rows: dict[str, int] = {}

        def complete(url: str, row: pa.RecordBatch | None) -> pa.RecordBatch:
            nonlocal batch, rows
            while batch is None or url not in rows:
                batch = None  # else two would be in memory while the next one is read
                batch = next(batches)
                rows = {key: number for number, key in enumerate(batch.column("url").to_pylist())}
            earlier = batch.take(pa.array([rows[url]]))  # a slice would keep all of the batch in memory
            return earlier if row is None else _updated(earlier, row)

        return complete


def _updated(earlier: pa.RecordBatch, row: pa.RecordBatch) -> pa.RecordBatch:
    """Return an earlier row with what a request for it has found."""
    newer = _OF_A_REQUEST if row.column("stale_reason").null_count else ("stale_reason",)
    columns = {name: (row if name in newer else earlier).column(name) for name in PAGES.schema.names}
    files = row.column("rights_headers").to_pylist()[0]
    if files is not None:
        kept = of_other_files(columns["rights_headers"].to_pylist()[0] or (), files)
        columns["rights_headers"] = pa.array([kept], columns["rights_headers"].type)
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=PAGES.schema)


_OF_A_REQUEST = ("fetched_at", "seconds", "attempts", "stale_reason")


def forget_lost(journal: Journal, earlier: EarlierPages | None) -> None:
    """Forget the journal's rows without a body whose body the earlier crawl no longer has."""
    for url, digest in list(journal.bodiless.items()):
        page = None if earlier is None else earlier.get(url)
        if page is None or page.sha256 != digest:
            journal.forget(url)


def find_earlier(store: Store, settings: CrawlSettings, *, shard: int, host_shards: int) -> EarlierPages | None:
    """Return the pages of the newest undamaged shard of like settings and number of shards, or None."""
    for record in newest_records(store, store.infos(PAGES.name), PAGES.name, shard):
        if not _comparable(record, settings, host_shards):
            logger.info("%s was made with other settings of the crawl: its pages are not reused", record.path)
            continue
        try:
            earlier = EarlierPages(store, record, settings)
        except CorruptShardError as damage:
            logger.warning("%s; its pages are not reused", damage)
            continue
        logger.info("%d pages of %s are reused or requested conditionally", len(earlier), record.path)
        return earlier
    return None


def _comparable(record: ShardRecord, settings: CrawlSettings, host_shards: int) -> bool:
    if record.version != PAGES.version or record.settings.get("host_shards") != host_shards:
        return False
    try:
        earlier, now = CrawlSettings(**_fields(record)).recipe(), settings.recipe()
    except ValidationError:
        return False
    return all(earlier.get(name) == now[name] for name in now if name not in _FETCH_ONLY)


def _fields(record: ShardRecord) -> dict[str, Any]:
    names = CrawlSettings.model_fields.keys() - {"wayback"}  # it is compared as the record has it
    return {name: record.settings[name] for name in names & record.settings.keys()}


def _stored(row: dict[str, Any], refreshed: bool) -> StoredPage:
    fetched_at = 0.0 if row["fetched_at"] is None else row["fetched_at"].timestamp()
    # The validators of an archived page are the archive's, or from another time.
    etag, modified = (row["etag"], row["last_modified"]) if row["archive"] is None else (None, None)
    return StoredPage(
        row["final_url"],
        row["sha256"],
        etag if etag is not None and _ENTITY_TAG.fullmatch(etag) else None,
        modified if modified is not None and _is_date(modified) else None,
        fetched_at,
        refreshed or row["stale_reason"] is not None,
        row["archive"] is not None,
    )


def _is_date(header: str) -> bool:
    try:
        parsedate_to_datetime(header)
    except ValueError:
        return False
    return header.isascii() and header.isprintable()
