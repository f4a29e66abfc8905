"""Settings of archives that are read over the network: Common Crawl, and the Internet Archive."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, field_validator

from tasks.crawl.reasons import PAGE_REASONS
from tasks.crawl.turns import LONGEST_WAIT
from tasks.crawl.urls import BadUrlError, normalise_url
from tasks.engine.settings import Settings, tuning


def service_url(url: str) -> str:
    """Return the normal form of the address of a service; any host and port is allowed.

    Raises:
        ValueError: it is not a web address.
    """
    try:
        return normalise_url(url, allowed_hosts=["*"])
    except BadUrlError as error:
        raise ValueError(f"expected an absolute http or https URL, got {url!r}") from error


ServiceUrl = Annotated[str, AfterValidator(service_url)]
FolderUrl = Annotated[str, AfterValidator(lambda url: f"{service_url(url).removesuffix('/')}/")]


class Patience(Settings):
    """How a service is asked, and asked again; a delay holds for all processes of this machine. Times are seconds."""

    total_seconds: float = Field(60.0, gt=0, description="limit for one answer")
    delay_seconds: float = tuning(1.0, "between the starts of two requests", ge=0, le=LONGEST_WAIT)
    retries: int = tuning(5, "further requests after one that failed for now", ge=0)
    backoff_seconds: float = tuning(2.0, "wait before the first retry; each further wait is twice as long", ge=0)
    max_backoff_seconds: float = tuning(
        120.0, "longest wait before a retry; a longer Retry-After is cut to it", ge=0, le=LONGEST_WAIT
    )


class CommonCrawlSettings(Patience):
    """Where Common Crawl, or an archive of its form, is read."""

    indexes: tuple[ServiceUrl, ...] = Field(
        (),
        description="CDX index servers asked in this order until one has a page, such as "
        "https://index.commoncrawl.org/CC-MAIN-2026-43-index; empty = Common Crawl is not used",
    )
    data_url: FolderUrl = Field("https://data.commoncrawl.org/", description="what the file names of the index follow")
    index_lines: int = Field(50, ge=1, description="captures of one URL that an index is asked for")
    captures: int = Field(2, ge=1, description="captures of one URL that are tried, newest first")
    max_record_bytes: int = Field(12_000_000, gt=0, description="limit for a record as it lies in the archive")
    connections: int = tuning(4, "records read at the same time by one shard", ge=1)


class WaybackSettings(Patience):
    """Whether and how the Internet Archive, or one that speaks its interface, stands in for dead links."""

    enabled: bool = Field(False, description="ask the archive for pages that are gone from the web")
    reasons: tuple[str, ...] = Field(
        (
            "http_404", "http_410", "dns_error", "dns_timeout", "connect_error", "connection_reset", "timeout",
            "host_unavailable", "redirect_loop", "too_many_redirects", "empty_body",
        ),
        description="reasons of pages that count as gone",
    )  # fmt: skip
    availability_url: ServiceUrl = Field(
        "https://archive.org/wayback/available", description="where the closest capture of a URL is asked for"
    )
    pages_url: FolderUrl = Field("https://web.archive.org/web/", description="what time and URL of a capture follow")
    timestamp: str = Field(
        "", description="captures closest to this time are wanted, YYYYMMDDhhmmss or its beginning; empty = newest",
        pattern=r"^(\d{4}|\d{6}|\d{8}|\d{14})?$",
    )  # fmt: skip
    delay_seconds: float = tuning(4.0, "between the starts of two requests: 15 a minute", ge=0, le=LONGEST_WAIT)
    retries: int = tuning(3, "further requests after one that failed for now", ge=0)
    backoff_seconds: float = tuning(10.0, "wait before the first retry; each further wait is twice as long", ge=0)
    max_backoff_seconds: float = tuning(
        300.0, "longest wait before a retry; a longer Retry-After is cut to it", ge=0, le=LONGEST_WAIT
    )

    @field_validator("reasons")
    @classmethod
    def _known(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if value not in PAGE_REASONS and not re.fullmatch(r"http_[1-9]\d\d", value):
                raise ValueError(f"expected a reason of a page, such as http_404 or dns_error, got {value!r}")
        return values
