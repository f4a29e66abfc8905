"""Settings of the crawl: what decides which pages it finds, and what only decides how fast and how politely."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from tasks.engine.data_files import read_data
from tasks.engine.settings import HEADER_TEXT, Settings, tuning
from tasks.fetching.content import declared_type
from tasks.fetching.turns import LONGEST_WAIT
from tasks.fetching.urls import BadUrlError, host_of, normalise_url

# RFC 9309, 2.2.1: a product token has no digits, so a robots.txt could not name another.
USER_AGENT = r"^[A-Za-z][A-Za-z_-]*(/[A-Za-z0-9._-]+)?$"
_DAY = 86_400.0  # seconds; no request or pause takes longer
AVAILABILITY_URL = "https://archive.org/wayback/available"  # is asked for the capture of a URL
PAGES_URL = "https://web.archive.org/web/"  # what time and URL of a capture are appended to
MAX_DECODED_ARCHIVE_BYTES = 50_000_000_000  # of the decoded copy of an archive that is not compressed per record

MIRROR_HOSTS: tuple[str, ...] = tuple(read_data("tasks.fetching", "sites.toml")["mirrors"])


def service_url(url: str) -> str:
    """Return the normal form of a service's address, at any host and port. Raises ValueError: it is not a web
    address."""
    try:
        return normalise_url(url, allowed_hosts=["*"])
    except BadUrlError as error:
        raise ValueError(f"expected an absolute http or https URL, got {url!r}") from error


def _time(text: str) -> datetime:
    """Return the time, or the beginning of YYYY, YYYYMM or YYYYMMDD. Raises ValueError: it is none of these."""
    try:
        if not re.fullmatch(r"(\d{4}|\d{6}|\d{8}|\d{14})", text, re.ASCII):
            raise ValueError(text)
        return datetime.strptime(text + "00000101000000"[len(text) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError as error:
        raise ValueError(f"expected YYYYMMDDhhmmss or its beginning, such as 2016 or 201611, got {text!r}") from error


def _media_type(text: str) -> str:
    name = text.strip().lower()
    if declared_type(name)[0] != name:
        raise ValueError(f"expected a media type such as text/html, got {text!r}")
    return name


def _domain(text: str) -> str:
    try:
        host = host_of(normalise_url(f"http://{text.strip()}/"))
    except BadUrlError:
        host = ""
    if not host or not re.fullmatch(r"[^\s/:@?#\\*]+", text.strip()):
        raise ValueError(f"expected a domain such as wikipedia.org, without scheme, port and path, got {text!r}")
    return host


def _host_pattern(text: str) -> str:
    pattern = text.strip().lower()
    if not re.fullmatch(r"[\x21-\x7e]+", pattern) or re.search(r"[/@#\\]", pattern):
        raise ValueError(
            f"expected a host or host:port in ASCII such as *.wiki.lan or 127.0.0.1:80??, without scheme and path, "
            f"got {text!r}"
        )
    return pattern


# As written, because it is part of keys; checked before work starts.
WrittenUrl = Annotated[str, AfterValidator(lambda url: service_url(url) and url)]
Moment = Annotated[str, AfterValidator(lambda text: text and _time(text) and text)]
HostPattern = Annotated[str, AfterValidator(_host_pattern)]
ServiceUrl = Annotated[str, AfterValidator(service_url)]
FolderUrl = Annotated[str, AfterValidator(lambda url: f"{service_url(url).removesuffix('/')}/")]


class CommonCrawlSettings(Settings):
    """The place of Common Crawl, or of an archive of its form."""

    delay_seconds: float = tuning(1.0, ge=0, le=LONGEST_WAIT)
    """between the starts of two requests to an index server from this machine, in seconds"""
    indexes: tuple[ServiceUrl, ...] = ()
    """CDX index servers asked in this order until one has a page, such as
    https://index.commoncrawl.org/CC-MAIN-2026-43-index, one URL a second; empty = not used"""
    tables: tuple[str, ...] = ()
    """the columnar index instead of `indexes`, for more than some thousand URLs: a table for each crawl, as the URL of
    its list of files (https://data.commoncrawl.org/crawl-data/CC-MAIN-2026-43/cc-index-table.paths.gz), or as a folder
    of Parquet files, a path or s3:// URI; add new ones at the end. Targets of redirects are looked up too"""
    near: Moment = ""
    """captures closest to this time are wanted, YYYYMMDDhhmmss or its beginning; empty = newest"""
    data_url: FolderUrl = "https://data.commoncrawl.org/"
    """what the index's names of archive files are appended to"""
    requests_per_second: float = tuning(20.0, gt=0, le=10_000)
    """ranges of files that this machine asks for in a second at most, all shards together"""

    def recipe(self) -> dict[str, Any]:
        """Return the fields that decide which captures are read, but the tables, whose files are arguments."""
        if not self.used:
            return {}
        fields = super().recipe()
        del fields["tables"]
        if not self.near:
            del fields["near"]
        return fields

    @property
    def used(self) -> bool:
        """Whether pages are looked for in it."""
        return bool(self.indexes or self.tables)

    @property
    def near_time(self) -> datetime | None:
        """The time that captures should be close to; None = the newest are wanted."""
        return _time(self.near) if self.near else None

    def preference(self, captured_at: datetime | None) -> tuple[float, float]:
        """Return what captures of one URL are sorted by: best first, unknown dates last."""
        if captured_at is None:
            return float("inf"), 0.0
        near = self.near_time
        away = 0.0 if near is None else abs((captured_at - near).total_seconds())
        return away, -captured_at.timestamp()

    @model_validator(mode="after")
    def _one_kind_of_index(self) -> Self:
        if self.indexes and self.tables:
            raise ValueError(
                "indexes and tables are both set: expected one, since the columnar index holds what the CDX servers do"
            )
        return self


class WaybackSettings(Settings):
    """Whether and how the Internet Archive replaces dead links."""

    enabled: bool = False
    """ask the Internet Archive for pages that are gone from the web"""
    availability_url: ClassVar[str] = AVAILABILITY_URL
    pages_url: ClassVar[str] = PAGES_URL
    timestamp: Moment = ""
    """captures closest to this time are wanted, YYYYMMDDhhmmss or its beginning; empty = newest"""

    def recipe(self) -> dict[str, Any]:
        """Return the fields that decide which captures are read; of one that is not asked, only that."""
        return super().recipe() if self.enabled else {"enabled": False}


class CrawlSettings(Settings):
    """How pages are fetched. Times are seconds, sizes bytes; limits hold for one response unless said otherwise."""

    user_agent: str = Field("wikisum-builder/0.1", pattern=USER_AGENT)
    """product token and version sent as User-Agent; the token is what robots.txt rules are matched with"""
    contact: str = tuning("", pattern=HEADER_TEXT)
    """URL or e-mail address in the User-Agent of every request, to sites, search services and wikis: where their owners
    can reach you (Wikimedia requires one)"""
    robots: bool = True
    """obey robots.txt as RFC 9309 says; its Crawl-delay too"""
    reservation_files: bool = False
    """ask each site for ai.txt and tdmrep.json too, two more requests, and note in the reservations of its pages what
    they say"""
    accepted_types: tuple[Annotated[str, AfterValidator(_media_type)], ...] = (
        "text/html",
        "application/xhtml+xml",
        "text/plain",
    )
    """media types of pages that are kept"""
    max_bytes: int = Field(10_000_000, gt=0, le=10_000_000_000)
    """limit for a body, in bytes after decompression"""
    allowed_hosts: tuple[HostPattern, ...] = ()
    """patterns (*, ?) of host or host:port that may have a private or loopback address and any port"""
    archive: tuple[str, ...] = ()
    """WARC or ARC files (path, glob or URI) that pages are taken from; empty = from the web"""
    max_decoded_archive_bytes: ClassVar[int] = MAX_DECODED_ARCHIVE_BYTES
    common_crawl: CommonCrawlSettings = CommonCrawlSettings()
    """Common Crawl, or an archive of its form"""
    fetch_missing: bool = False
    """fetch from the web what neither archive files nor Common Crawl have; else it stays missing"""
    wayback: WaybackSettings = WaybackSettings()
    """the Internet Archive instead of dead links"""
    mirror_hosts: tuple[Annotated[str, AfterValidator(_domain)], ...] = MIRROR_HOSTS
    """domains never fetched from, subdomains included: the encyclopedia and its mirrors"""
    refresh: str = ""
    """any text, such as a date or a week; a new one makes the pages of earlier crawls due again: they are requested
    conditionally, and kept if they have not changed"""
    budget_seconds: float | None = Field(None, gt=0, le=3_660 * _DAY)
    """stop a shard after so many seconds; null = never"""
    budget_pages: int | None = Field(None, gt=0, le=10**12)
    """stop a shard after asking for this many URLs; null = never. Pages taken over from an earlier crawl, or found in
    an archive, count for no budget"""
    budget_domain_pages: int | None = Field(None, gt=0, le=10**12)
    """ask a registered domain for at most this many URLs of a crawl; null = no limit"""

    host_delay_seconds: float = tuning(1.0, ge=0, le=_DAY)
    """seconds between two requests to one registered domain, over all shards of a run, and a tenth of it between two to
    one address; a Crawl-delay can raise it for a host"""
    connections: int = tuning(32, ge=1, le=1_000)
    """requests of one shard at the same time, over all hosts"""
    ca_bundle: str | None = tuning(None)
    """file of certificate authorities to trust; null = those of certifi"""

    @field_validator("accepted_types")
    @classmethod
    def _any_type(cls, types: tuple[str, ...]) -> tuple[str, ...]:
        if not types:
            raise ValueError("expected at least one media type, got none")
        return types

    @property
    def reads_site_files(self) -> bool:
        """Whether a site's files are read before its pages."""
        return self.robots or self.reservation_files

    @property
    def from_archives(self) -> bool:
        """Whether pages are looked for in archives first."""
        return bool(self.archive or self.common_crawl.used)

    @property
    def user_agent_header(self) -> str:
        """The User-Agent header, contact included."""
        return f"{self.user_agent} (+{self.contact})" if self.contact else self.user_agent
