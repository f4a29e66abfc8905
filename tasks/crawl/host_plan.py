"""What a crawl will ask of the largest sites, from its frontier: URLs and days at the polite rate."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from tasks.crawl.urls import registered_domain
from tasks.engine.data_files import read_data

LARGEST = 10  # domains named in a plan
_DAY = 86_400.0

ARCHIVES: Mapping[str, str] = read_data("tasks.crawl", "sites.toml")["archives"]


@dataclass(frozen=True)
class DomainLoad:
    """What is left to ask of a registered domain."""

    domain: str  # the registered domain
    hosts: int  # its hosts in what was read of the frontier
    urls: int  # its URLs, at most: one that several articles cite counts for each
    days: float  # time for that many requests at the polite rate; a Crawl-delay can make it longer

    @property
    def archive(self) -> str | None:
        """How the domain's captures are reached in bulk, if it is a web archive."""
        return ARCHIVES.get(self.domain)


@dataclass(frozen=True)
class HostPlan:
    """What is left to ask of sites."""

    urls: int  # URLs of all domains, at most
    loads: tuple[DomainLoad, ...]  # all domains in what was read of the frontier, those with most URLs first

    @property
    def largest(self) -> tuple[DomainLoad, ...]:
        """The domains that a plan names."""
        return self.loads[:LARGEST]

    @property
    def archives(self) -> tuple[DomainLoad, ...]:
        """The web archives."""
        return tuple(load for load in self.loads if load.archive is not None)


def plan_hosts(
    frontier: Iterable[pa.RecordBatch],
    *,
    done: Collection[int],
    delay: float,
    share: float = 1.0,
    budget: int | None = None,
) -> HostPlan:
    """Count the URLs of each registered domain that are left to fetch; host shards that are `done` do not count.
    `delay`: seconds between two requests to a domain. `share` of the frontier's shards is given, above 0: articles are
    spread over them by a hash, so others have about as many URLs of each large domain. `budget`: None = no limit."""
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
    loads = tuple(DomainLoad(domain, hosts[domain], asked[domain], asked[domain] * delay / _DAY) for domain in ordered)
    return HostPlan(sum(asked.values()), loads)
