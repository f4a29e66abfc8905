"""Settings of archives that are read over the network: Common Crawl, and the Internet Archive."""

from typing import Annotated

from pydantic import AfterValidator, Field

from tasks.crawl.turns import LONGEST_WAIT
from tasks.crawl.urls import BadUrlError, normalise_url
from tasks.engine.settings import Settings, tuning


def service_url(url: str) -> str:
    """Return the normal form of the address of a service; whoever names one decides on its host and port.

    Raises:
        ValueError: it is no web address.
    """
    try:
        return normalise_url(url, allowed_hosts=["*"])
    except BadUrlError as error:
        raise ValueError(f"{url!r}: expected an absolute http or https URL") from error


ServiceUrl = Annotated[str, AfterValidator(service_url)]
FolderUrl = Annotated[str, AfterValidator(lambda url: f"{service_url(url).removesuffix('/')}/")]


class CommonCrawlSettings(Settings):
    """Where Common Crawl, or an archive of its form, is read."""

    delay_seconds: float = tuning(
        1.0, "between the starts of two requests of this machine, in seconds", ge=0, le=LONGEST_WAIT
    )
    indexes: tuple[ServiceUrl, ...] = Field(
        (),
        description="CDX index servers asked in this order until one has a page, such as "
        "https://index.commoncrawl.org/CC-MAIN-2026-43-index; empty = Common Crawl is not used",
    )
    data_url: FolderUrl = Field("https://data.commoncrawl.org/", description="what the file names of the index follow")
    connections: int = tuning(4, "records read at the same time by one shard", ge=1)


class WaybackSettings(Settings):
    """Whether and how the Internet Archive, or one that speaks its interface, stands in for dead links."""

    enabled: bool = Field(False, description="ask the archive for pages that are gone from the web")
    availability_url: ServiceUrl = Field(
        "https://archive.org/wayback/available", description="where the closest capture of a URL is asked for"
    )
    pages_url: FolderUrl = Field("https://web.archive.org/web/", description="what time and URL of a capture follow")
    timestamp: str = Field(
        "", description="captures closest to this time are wanted, YYYYMMDDhhmmss or its beginning; empty = newest",
        pattern=r"^(\d{4}|\d{6}|\d{8}|\d{14})?$",
    )  # fmt: skip
    delay_seconds: float = tuning(
        4.0, "between the starts of two requests of this machine, in seconds: 15 a minute", ge=0, le=LONGEST_WAIT
    )
