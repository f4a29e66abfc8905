"""The corpus explorer at the size of WikiSum: 1.5 M articles in 1,000 shards, written once below a folder.

    python -m benchmarks.explorer /tmp/explorer

Seconds to open it, to show the first articles, to read all, to search, to filter and sort, and to show one article
with 525 paragraphs and 57 URLs in 57 host shards. Articles, their frontier shard and paragraphs shard have the full
size; the 57 host shards are links to one file of each stage, which holds row groups for 1,000 article shards. Files
are in the system's cache after the first round. The peer in the same run reads the titles with pyarrow's dataset
scanner."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from benchmarks.frame import command
from benchmarks.synthetic import SyntheticCorpus
from storage import schemas
from storage.builds import Build, save_build
from storage.schemas import Dataset
from storage.store import Store
from tasks.explorer.article import read_article
from tasks.explorer.corpus import ExplorerCorpus, Question

SHARDS, ARTICLES = 1_000, 1_500  # of them in a shard
PARAGRAPHS, URLS = 525, 57
KEY = "0" * 16


def table(dataset: Dataset, rows: int, **columns: Any) -> pa.Table:
    """Return a table of a dataset; columns that are not given are null."""
    filled = {
        field.name: pa.array(columns[field.name], field.type) if field.name in columns else pa.nulls(rows, field.type)
        for field in dataset.schema
    }
    return pa.table(filled, schema=dataset.schema)


def article_id(shard: int, number: int) -> str:
    """Return an id, in order within its shard."""
    return f"{shard:04x}{number:012x}"


def write_articles(store: Store) -> None:
    """Write every article shard; leads repeat, ids and titles do not."""
    texts = SyntheticCorpus(seed=1)
    leads, words = texts.texts(ARTICLES, 139, texts.topic()), texts.texts(ARTICLES, 3, texts.topic())
    Path(store.path("articles")).mkdir(parents=True)
    for shard in range(SHARDS):
        rows = table(
            schemas.ARTICLES,
            ARTICLES,
            article_id=[article_id(shard, number) for number in range(ARTICLES)],
            title=[f"{word} {shard}" for word in words],
            lead=leads,
            split=["train"] * ARTICLES,
            source=["synthetic"] * ARTICLES,
        )
        pq.write_table(rows, store.path(path("articles", shard)), compression="zstd")


def path(stage: str, shard: int) -> str:
    """Return the file of a shard."""
    return f"{stage}/part-{shard:05d}.{KEY}.parquet"


def url(number: int) -> str:
    """Return the URL in a host shard that article 7 of shard 0 cites."""
    return f"http://host{number}.test/page.html"


def write_one_article(store: Store) -> None:
    """Write the shards that the view of article 7 reads."""
    texts = SyntheticCorpus(seed=2)
    some = texts.texts(2_000, 70, texts.topic())
    owners = [article_id(0, number) for number in range(ARTICLES) for _ in range(PARAGRAPHS)]
    count = len(owners)
    numbers = list(range(PARAGRAPHS)) * ARTICLES
    paragraphs = table(
        schemas.PARAGRAPHS,
        count,
        article_id=owners,
        paragraph_id=numbers,
        position=numbers,
        url=[url(number % URLS) for number in numbers],
        text=(some * (count // len(some) + 1))[:count],
    )
    store.write_table(path("paragraphs", 0), paragraphs, schemas.PARAGRAPHS)
    cited = [(article, number) for article in range(ARTICLES) for number in range(URLS)]
    frontier = table(
        schemas.FRONTIER,
        len(cited),
        article_id=[article_id(0, article) for article, _ in cited],
        url=[url(number) if article == 7 else f"{url(number)}?{article}" for article, number in cited],
        host_shard=[number if article == 7 else (article * 31 + number * 17) % SHARDS for article, number in cited],
        provenance=["citation"] * len(cited),
        rank=[number for _, number in cited],
    )
    store.write_table(path("frontier", 0), frontier, schemas.FRONTIER)
    addresses = sorted([*map(url, range(URLS)), *(f"http://other.test/{number:06d}" for number in range(20_000))])
    pages = table(
        schemas.PAGES, len(addresses), url=addresses, status=[200] * len(addresses), bytes=[1] * len(addresses)
    )
    store.write_table(path("pages", 0), pages, schemas.PAGES)
    places = [(shard, number) for shard in range(SHARDS) for number in range(60)]
    documents = table(
        schemas.DOCUMENTS,
        len(places),
        article_shard=[shard for shard, _ in places],
        article_id=[article_id(shard, number // 4) for shard, number in places],
        url=[url(number) for _, number in places],
        paragraphs=[some[:2]] * len(places),
        title=["A page"] * len(places),
    )
    store.write_table(path("documents", 0), documents, schemas.DOCUMENTS)
    for stage in ("pages", "documents"):
        for shard in range(1, URLS):
            os.link(store.path(path(stage, 0)), store.path(path(stage, shard)))


def prepare(store: Store) -> None:
    """Write the corpus, its manifest last."""
    if store.exists("builds/latest.json"):
        return
    write_articles(store)
    write_one_article(store)
    shards = {"articles": SHARDS, "frontier": 1, "paragraphs": 1, "pages": URLS, "documents": URLS}
    stages = {stage: {str(shard): path(stage, shard) for shard in range(count)} for stage, count in shards.items()}
    save_build(store, Build("20260101-000000-synthetic", "2026-01-01T00:00:00+00:00", {}, stages, {}, {}))


def timed(name: str, work: Callable[[], Any]) -> Any:
    """Print and return."""
    started, used = time.perf_counter(), time.process_time()
    result = work()
    print(f"{name:36} {time.perf_counter() - started:6.2f} s, {time.process_time() - used:6.2f} s of processor time")
    return result


def scan(store: Store) -> int:
    """Find the same titles with pyarrow's dataset scanner, which reads them anew for each search."""
    titles = ds.dataset(store.path("articles"), format="parquet")
    return titles.count_rows(filter=pc.match_substring(ds.field("title"), " 777", ignore_case=True))


def main(root: str) -> None:
    """Print the figures."""
    store = Store(root)
    prepare(store)
    corpus = timed("open", lambda: ExplorerCorpus(store))
    timed("first 50 articles", lambda: corpus.find(Question()))
    timed("all titles in memory", corpus.wait)
    found = timed("find a title", lambda: corpus.find(Question(text=" 777")))
    timed(
        "filter, sort, go to page 9,000",
        lambda: corpus.find(Question(chosen={"split": "train"}, order="-title", start=450_000)),
    )
    scanned = timed("  the peer: scan the dataset", lambda: scan(store))
    assert found.matches == scanned, (found.matches, scanned)
    timed("one article, first time", lambda: read_article(corpus, 0, article_id(0, 7)))
    view = timed("one article, again", lambda: read_article(corpus, 0, article_id(0, 7)))
    assert (len(view.addresses), len(view.candidates)) == (URLS, PARAGRAPHS)
    print(f"resident memory                      {psutil.Process().memory_info().rss / 1e6:,.0f} MB")


if __name__ == "__main__":
    command(main, __doc__)
