"""The comparison of `benchmarks.crawl`: a Scrapy spider that fetches a list of URLs and writes each body to a feed."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response


class ListSpider(scrapy.Spider):
    """Fetches `urls`, each once."""

    name = "list"

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self._urls = urls

    async def start(self) -> AsyncIterator[Any]:
        """Yield a request for each URL."""
        for url in self._urls:
            yield scrapy.Request(url)

    def parse(self, response: Response, **_: Any) -> Iterator[dict[str, Any]]:
        """Yield the feed's entry for a page."""
        yield {"url": response.url, "status": response.status, "body": response.text}


def crawl(urls: list[str], feed: Path, *, connections: int, delay: float) -> int:
    """Crawl in this process, which works only once; return how many pages had status 200."""
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": connections,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "DOWNLOAD_DELAY": delay,
            "RANDOMIZE_DOWNLOAD_DELAY": False,
            "FEEDS": {str(feed): {"format": "jsonlines"}},
            "LOG_LEVEL": "WARNING",
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    crawler = process.create_crawler(ListSpider)
    process.crawl(crawler, urls=urls)
    process.start()
    assert crawler.stats is not None
    return int(crawler.stats.get_value("downloader/response_status_count/200", 0)) - int(
        crawler.stats.get_value("robotstxt/response_count", 0)
    )
