"""Settings of the crawl, of searches and of sources that could never work are refused before work starts."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.cited_summary.settings import SummarySettings
from tasks.fetching.settings import CrawlSettings
from tasks.search.settings import WebSearchSettings
from tasks.sources.settings import SourceSettings

TYPE, DOMAIN, HOST = "expected a media type such as", "expected a domain such as", "expected a host or host:port"
TIME, URL, DAY = (
    "expected YYYYMMDDhhmmss or its beginning",
    "expected an absolute http or https URL",
    "or equal to 86400",
)
GOOGLE: dict[str, Any] = {"provider": "google", "key": "k", "engine": "e"}

REFUSED: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (CrawlSettings, {"accepted_types": ["html"]}, f"{TYPE} text/html, got 'html'"),
    (CrawlSettings, {"accepted_types": ["text/*"]}, TYPE),
    (CrawlSettings, {"accepted_types": ["text/html; charset=utf-8"]}, TYPE),
    (CrawlSettings, {"accepted_types": []}, "expected at least one media type, got none"),
    (CrawlSettings, {"mirror_hosts": ["http://x.org/"]}, rf"{DOMAIN} wikipedia.org, .* got 'http://x.org/'"),
    (CrawlSettings, {"mirror_hosts": ["x.org:80"]}, DOMAIN),
    (CrawlSettings, {"mirror_hosts": ["*.x.org"]}, DOMAIN),
    (CrawlSettings, {"mirror_hosts": ["x.org", ""]}, DOMAIN),
    (CrawlSettings, {"mirror_hosts": ["a..b"]}, DOMAIN),
    (CrawlSettings, {"allowed_hosts": ["http://wiki.lan/"]}, f"{HOST} .* got 'http://wiki.lan/'"),
    (CrawlSettings, {"allowed_hosts": ["bücher.lan"]}, HOST),
    (CrawlSettings, {"allowed_hosts": [""]}, HOST),
    (SummarySettings, {"allowed_hosts": ["http://wiki.lan/"]}, HOST),
    (CrawlSettings, {"wayback": {"timestamp": "20261399"}}, f"{TIME}.* got '20261399'"),
    (CrawlSettings, {"wayback": {"timestamp": "20261"}}, TIME),
    (CrawlSettings, {"wayback": {"timestamp": "0000"}}, TIME),
    (CrawlSettings, {"common_crawl": {"near": "201600"}}, TIME),
    (CrawlSettings, {"user_agent": "bot2/1.0"}, "match pattern"),
    (CrawlSettings, {"host_delay_seconds": 1e300}, DAY),
    (CrawlSettings, {"host_delay_seconds": float("inf")}, "finite number"),
    (CrawlSettings, {"host_delay_seconds": float("nan")}, "finite number"),
    (CrawlSettings, {"connections": 10**8}, "or equal to 1000"),
    (WebSearchSettings, {"provider": "searxng", "endpoint": "localhost"}, f"{URL}, got 'localhost'"),
    (WebSearchSettings, {**GOOGLE, "results": 20}, "search.results is 20: expected at most 10"),
    (WebSearchSettings, {"delay_seconds": float("inf")}, "finite number"),
    (SourceSettings, {"mediawiki": {"api": "en.wikipedia.org"}}, f"{URL}, got 'en.wikipedia.org'"),
    (SourceSettings, {"wikitext": {"names": {"list_prefixes": ["list of ", ""]}}}, "expected names, got an empty one"),
    (
        SourceSettings,
        {"wikitext": {"names": {"lists": ["list of "]}}},
        "names has 'lists': expected external_sections, ",
    ),
]


@pytest.mark.parametrize(("section", "given", "complaint"), REFUSED, ids=lambda case: str(case)[:60])
def test_what_could_never_work_is_refused(section: Callable[..., Any], given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        section(**given)


def test_what_works_is_taken_in_one_form() -> None:
    settings = CrawlSettings(
        accepted_types=(" Text/HTML", "image/svg+xml"),
        mirror_hosts=("Wikipedia.org ", "bücher.example"),
        allowed_hosts=("*.LAN", "127.0.0.1:80??", "[::1]:80", "*"),
        wayback={"timestamp": "201611"},
        user_agent="Reader_of-pages/2.1",
    )
    assert settings.accepted_types == ("text/html", "image/svg+xml")
    assert settings.mirror_hosts == ("wikipedia.org", "xn--bcher-kva.example")
    assert settings.allowed_hosts == ("*.lan", "127.0.0.1:80??", "[::1]:80", "*")
    assert settings.wayback.timestamp == "201611"


def test_an_address_stays_as_written_because_it_is_part_of_keys() -> None:
    assert WebSearchSettings(provider="searxng", endpoint="http://Box:8080").endpoint == "http://Box:8080"
    assert WebSearchSettings(**{**GOOGLE, "results": 10}).results == 10
