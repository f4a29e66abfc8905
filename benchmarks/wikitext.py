"""Pages per second from a MediaWiki dump to articles, against the parser alone on the same pages.

python -m benchmarks.wikitext ../shared/data/enwiki-excerpt.xml.bz2
"""

import argparse
import resource
import time
from collections.abc import Callable, Iterable

import mwparserfromhell

from tasks.sources.dump.articles import ArticleReader
from tasks.sources.dump.pages import Page
from tasks.sources.dump.settings import DumpSettings, WikitextSettings
from tasks.sources.dump.source import DumpSource


def _seconds(run: Callable[[], Iterable[object]]) -> float:
    """Return the processor time of the best of three runs."""
    times = []
    for _ in range(3):
        start = time.process_time()
        for _ in run():
            pass
        times.append(time.process_time() - start)
    return min(times)


def _stripped(pages: Iterable[Page]) -> Iterable[str]:
    return (mwparserfromhell.parse(page.text).strip_code() for page in pages)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", help="MediaWiki XML, plain, .bz2 or .gz")
    path = parser.parse_args().dump
    source = DumpSource(DumpSettings(paths=(path,)), WikitextSettings())
    partitions = source.partitions()
    reading = _seconds(lambda: (page for part in partitions for page in source.open(part)[1]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pages = [page for part in partitions for page in source.open(part)[1]]
    reader: ArticleReader = source.open(partitions[0])[0]
    articles = [page for page in pages if reader.page_reason(page) is None]
    megabytes = sum(len(page.text.encode()) for page in articles) / 1e6
    ours = _seconds(lambda: map(reader.article, articles))
    parsed = _seconds(lambda: _stripped(articles))
    print(f"{len(pages)} pages, {len(articles)} articles of {megabytes:.1f} MB wikitext; peak {peak / 1024:.0f} MB")
    print(f"{'reading and decompressing':32}{len(pages) / reading:8.0f} pages/s")
    print(f"{'articles, with leads and URLs':32}{len(articles) / ours:8.0f} pages/s {megabytes / ours:8.1f} MB/s")
    print(f"{'the parser alone, whole page':32}{len(articles) / parsed:8.0f} pages/s {megabytes / parsed:8.1f} MB/s")


if __name__ == "__main__":
    main()
