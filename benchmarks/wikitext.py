"""Pages per second from a MediaWiki dump to articles, against the parser alone on the same pages.

python -m benchmarks.wikitext ../shared/data/enwiki-excerpt.xml.bz2
"""

import time
from collections import deque
from collections.abc import Callable, Iterable

import mwparserfromhell

from benchmarks.frame import command, fastest, peak_bytes
from tasks.sources.dump.articles import ArticleReader
from tasks.sources.dump.pages import DumpPage
from tasks.sources.dump.settings import DumpSettings, WikitextSettings
from tasks.sources.dump.source import DumpSource


def _seconds(run: Callable[[], Iterable[object]]) -> float:
    """Return the processor time of the best of three runs."""
    return fastest({"": lambda: deque(run(), maxlen=0)}, 3, time.process_time)[""]


def _stripped(pages: Iterable[DumpPage]) -> Iterable[str]:
    return (mwparserfromhell.parse(page.text).strip_code() for page in pages)


def main(dump: str) -> None:
    """Measure and print."""
    source = DumpSource(DumpSettings(paths=(dump,)), WikitextSettings())
    partitions = source.partitions()
    reading = _seconds(lambda: (page for part in partitions for page in source.open(part)[1]))
    peak = peak_bytes()
    pages = [page for part in partitions for page in source.open(part)[1]]
    reader: ArticleReader = source.open(partitions[0])[0]
    articles = [page for page in pages if reader.page_reason(page) is None]
    megabytes = sum(len(page.text.encode()) for page in articles) / 1e6
    ours = _seconds(lambda: map(reader.article, articles))
    parsed = _seconds(lambda: _stripped(articles))
    print(f"{len(pages)} pages, {len(articles)} articles of {megabytes:.1f} MB wikitext; peak {peak / 2**20:.0f} MB")
    print(f"{'reading and decompressing':32}{len(pages) / reading:8.0f} pages/s")
    print(f"{'articles, with leads and URLs':32}{len(articles) / ours:8.0f} pages/s {megabytes / ours:8.1f} MB/s")
    print(f"{'the parser alone, whole page':32}{len(articles) / parsed:8.0f} pages/s {megabytes / parsed:8.1f} MB/s")


if __name__ == "__main__":
    command(main, __doc__)
