"""The URLs of an article's sources: those that it cites, then those that a search for its title found. Also how many
URLs a crawl will request from the largest sites, and how many days that takes at the polite rate."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from storage.schemas import FRONTIER
from tasks.engine.data_files import read_data
from tasks.engine.hashing import shard_of
from tasks.fetching.reasons import FrontierReason
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.urls import BadUrlError, archived_url, host_of, normalise_url, registered_domain, under_domain


def build_frontier(
    articles: pa.Table, search: pa.Table | None, settings: CrawlSettings, *, article_shard: int, host_shards: int
) -> pa.Table:
    """Return one row for each URL of each kept article; refused URLs have a reason. A URL is kept once per article: as
    a citation if it is one, and with its first rank. Rows are in the order of articles, citations before search
    results, each by rank. A URL without a normal form is kept as written, with a null host, in host shard 0."""
    search_results = _results(search)
    rows: list[dict[str, Any]] = []
    for article in articles.select(["article_id", "references", "drop_reason"]).to_pylist():
        if article["drop_reason"] is None:
            cited = [(rank, url) for rank, url in enumerate(article["references"] or ())]
            rows += _article_rows(article["article_id"], cited, search_results.get(article["article_id"], []), settings)
    for row in rows:
        row["article_shard"] = article_shard
        row["host_shard"] = 0 if row["host"] is None else shard_of(registered_domain(row["host"]), host_shards)
    return pa.Table.from_pylist(rows, schema=FRONTIER.schema)


def _results(search: pa.Table | None) -> dict[str, list[tuple[int, str]]]:
    by_article: dict[str, list[tuple[int, str]]] = {}
    for row in [] if search is None else search.to_pylist():
        if row["reason"] is None and row["url"] is not None:
            by_article.setdefault(row["article_id"], []).append((row["rank"], row["url"]))
    return {article: sorted(results) for article, results in by_article.items()}


def _article_rows(
    article: str, cited: list[tuple[int, str]], search_results: list[tuple[int, str]], settings: CrawlSettings
) -> Iterator[dict[str, Any]]:
    seen: dict[str, str] = {}
    for provenance, urls in (("citation", cited), ("search", search_results)):
        for rank, written in urls:
            url, host, reason = _judge(written, settings.mirror_hosts, settings.allowed_hosts)
            if host is not None and url in seen:
                reason = FrontierReason.DUPLICATE_URL if seen[url] == provenance else FrontierReason.ALREADY_CITED
            seen.setdefault(url, provenance)
            yield {
                "article_id": article,
                "url": url,
                "host": host,
                "provenance": provenance,
                "rank": rank,
                "drop_reason": reason,
            }


def _judge(written: str, mirrors: Iterable[str], allowed: Iterable[str]) -> tuple[str, str | None, str | None]:
    try:
        url = normalise_url(written, allowed_hosts=allowed)
    except BadUrlError as error:
        return written, None, error.reason
    original = archived_url(url)
    mirror = under_domain(url, mirrors) or (original is not None and under_domain(original, mirrors))
    return url, host_of(url), FrontierReason.MIRROR_HOST if mirror else None


_DAY = 86_400.0

ARCHIVES: Mapping[str, str] = read_data("tasks.fetching", "sites.toml")["archives"]


@dataclass(frozen=True)
class DomainLoad:
    """The remaining requests to a registered domain."""

    domain: str  # the registered domain
    hosts: int  # its hosts in the part of the frontier that was read
    urls: int  # its URLs, at most: one that several articles cite counts for each
    days: float  # time for that many requests at the polite rate; a Crawl-delay can make it longer

    @property
    def archive(self) -> str | None:
        """How the domain's captures are reached in bulk, if it is a web archive."""
        return ARCHIVES.get(self.domain)


def plan_hosts(
    frontier: Iterable[pa.RecordBatch],
    *,
    done: Collection[int],
    delay: float,
    share: float = 1.0,
    budget: int | None = None,
) -> list[DomainLoad]:
    """Return the registered domains with URLs left to fetch, those with most first; host shards that are `done` do not
    count. `delay`: seconds between two requests to a domain. `share` of the frontier's shards is given, above 0:
    articles are spread by a hash, so others have about as many URLs of each large domain; `budget`: of a domain."""
    crawled = pa.array(sorted(done), pa.int32())
    by_host: Counter[str] = Counter()
    for batch in frontier:
        left = pc.and_(
            pc.is_null(batch.column("drop_reason")), pc.invert(pc.is_in(batch.column("host_shard"), crawled))
        )
        for counted in pc.value_counts(batch.column("host").filter(left)).to_pylist():
            by_host[counted["values"]] += counted["counts"]
    urls: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    for host, count in by_host.items():
        domain = registered_domain(host)
        urls[domain] += count
        hosts[domain] += 1
    scaled = {domain: round(count / share) for domain, count in urls.items()}
    asked = scaled if budget is None else {domain: min(count, budget) for domain, count in scaled.items()}
    ordered = sorted(asked, key=lambda domain: (-asked[domain], domain))
    return [DomainLoad(domain, hosts[domain], asked[domain], asked[domain] * delay / _DAY) for domain in ordered]
