"""Extrapolation from the executed part to the whole WikiSum: every figure, and its assumptions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.rehearsal.execution import CRAWL_DELAY
from benchmarks.rehearsal.fan_in import READERS
from flows.running.estimates import CORPUS_ARTICLES, DOLLARS_PER_GB, DOLLARS_PER_MILLION_REQUESTS, RECORD_BYTES
from tasks.fetching.settings import CommonCrawlSettings

# The 7,648 references of 100 articles have 2,400 different hosts, and their number grows with the power .75 of that
# of URLs, which is between what a thousand to three thousand references show there (.72) and in a dump (.80).
HOSTS_OF, HOSTS, HOSTS_POWER = 7_648, 2_400, 0.75
BUDGETS = (None, 1_000_000, 100_000)  # pages of a domain (crawl.budget_domain_pages)
# Made once whatever the corpus's size, or work of a GPU.
NOT_EXTRAPOLATED = ("vocabulary", "models/ranker", "models/summarizer", "predictions", "reports")


@dataclass(frozen=True)
class Prices:
    """Prices in dollars: list prices of Amazon in us-east-1 and of a search service, 2025."""

    core_hour: float = 0.045  # of a virtual core of a machine for computing, on demand (c7i)
    gb_month: float = 0.023  # of a gigabyte in an object store
    million_requests: float = DOLLARS_PER_MILLION_REQUESTS  # of reading objects
    gb_out: float = DOLLARS_PER_GB  # of a gigabyte that leaves the region
    thousand_queries: float = 5.0  # of a search service


@dataclass(frozen=True)
class StageCost:
    """What a stage took, and takes at full size."""

    name: str
    rows: int  # rows of the sample
    seconds: float  # time of its slowest shard
    processor: float  # seconds of processor time of all its shards
    fixed: float  # seconds of processor time of a shard, however few articles it has
    peak_bytes: int  # highest memory of a shard
    bytes: int  # on disk
    full_peak_bytes: float | None  # memory of a shard at full size; None = not extrapolated
    core_hours: float | None  # at full size, opening files included; None = not extrapolated
    full_bytes: float | None  # on disk at full size; None = not extrapolated


@dataclass(frozen=True)
class DomainLimit:
    """A crawl with a limit for each domain."""

    budget: int | None  # pages asked of a domain at most; None = no limit
    urls: float  # URLs asked for
    days: float  # time of the largest domain at a second between two requests


@dataclass(frozen=True)
class Requests:
    """What is asked of the web."""

    urls: float  # URLs of the frontier
    asked: float  # requests for them
    hosts: float  # hosts they are on, each of which is asked for its robots.txt
    received: float  # bytes of the pages, compressed as servers send them


class Extrapolation:
    """The figures at full size.

    A stage costs something for each shard and something for each article. Two samples of as many shards tell both:
    their difference is the cost of the articles that only the larger one has.

    Attributes:
        articles: of the sample.
        smaller: of the smaller one.
        factor: how many times the sample the whole is.
        shards: shards of articles, and of hosts."""

    def __init__(
        self, smaller: Mapping[str, Any], run: Mapping[str, Any], fan_in: Mapping[str, Any], shards: int
    ) -> None:
        """Take what two samples took (`execution.execute`), the fan-in (`fan_in.measure`) and the shards."""
        self._smaller, self._run, self._fan_in = smaller, run, fan_in
        self.articles: int = run["articles"]
        self.smaller: int = smaller["articles"]
        self.factor = CORPUS_ARTICLES / self.articles
        self.shards = shards

    def stages(self) -> list[StageCost]:
        """Return the costs of the stages, in order of the work."""
        return [self._stage(name, taken) for name, taken in self._run["stages"].items()]

    def _stage(self, name: str, taken: Mapping[str, Any]) -> StageCost:
        hours = full_bytes = full_peak = None
        each, fixed = self._each(name, taken)
        if name not in NOT_EXTRAPOLATED:
            opened = sum(self.opening_hours(dataset.name) for dataset, stages in READERS.items() if name in stages)
            hours = (each * CORPUS_ARTICLES + fixed * self.shards) / 3600 + opened
            full_bytes = self.factor * taken["bytes"]
            full_peak = self._full_peak(name, taken)
        sample = {field: taken[field] for field in ("rows", "seconds", "processor", "peak_bytes", "bytes")}
        return StageCost(
            name, **sample, fixed=fixed, full_peak_bytes=full_peak, core_hours=hours, full_bytes=full_bytes
        )

    def _full_peak(self, name: str, taken: Mapping[str, Any]) -> float:
        """Return the memory of a full shard, to which each article adds what it adds from one sample to the other."""
        each = (taken["peak_bytes"] - self._smaller["stages"][name]["peak_bytes"]) / (self.articles - self.smaller)
        missing = CORPUS_ARTICLES / self.shards - self.articles / taken["shards"]
        return float(taken["peak_bytes"] + max(0.0, each) * taken["shards"] * missing)

    def _each(self, name: str, taken: Mapping[str, Any]) -> tuple[float, float]:
        """Return processor seconds for each article and for each shard; neither is below 0."""
        more = self.articles - self.smaller
        each = max(0.0, (taken["processor"] - self._smaller["stages"][name]["processor"]) / more)
        return each, max(0.0, (taken["processor"] - each * self.articles) / taken["shards"])

    def opening_hours(self, dataset: str) -> float:
        """Return the core-hours in which every shard opens every file of a dataset once."""
        return float(self.shards**2 * self._fan_in[dataset]["seconds_a_file"] / 3600)

    def opening_bytes(self, dataset: str) -> float:
        """Return the bytes of footers that are read for that; each names the row group of every reader."""
        return float(self.shards**2 * self._fan_in[dataset]["footer_bytes"])

    def requests(self) -> Requests:
        """Return what a crawl of the web asks."""
        urls = self.factor * self._run["frontier"]["urls"]
        hosts = HOSTS * (urls / HOSTS_OF) ** HOSTS_POWER
        asked = self.factor * self._run["crawl"]["requests"]
        return Requests(urls, asked, hosts, self._pages() * RECORD_BYTES)

    def _pages(self) -> float:
        return float(self.factor * self._run["crawl"]["pages"])

    def limits(self) -> list[DomainLimit]:
        """Return the crawl's time with each limit for a domain."""
        domains = [self.factor * count for count in self._run["frontier"]["domains"]]
        limited = [[min(count, budget or count) for count in domains] for budget in BUDGETS]
        return [
            DomainLimit(budget, sum(counts), max(counts) * CRAWL_DELAY / 86_400)
            for budget, counts in zip(BUDGETS, limited, strict=True)
        ]

    def common_crawl(self) -> tuple[float, float, float]:
        """Return requests, bytes and days of the records, if all pages that are there are read from Common Crawl."""
        pages = self._pages()
        return pages, pages * RECORD_BYTES, pages / CommonCrawlSettings().requests_per_second / 86_400
