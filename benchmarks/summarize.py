"""A summary of ten pages, as a reader of the local page waits for it: seconds to the first progress and to the end.

    python -m benchmarks.summarize                # synthetic pages, the extractive system
    python -m benchmarks.summarize --model ROOT   # ten pages of the corpus below a root, its ranker and summarizer

The application runs on a real port with real requests. Beside wall seconds, those of processor time, the extracting
processes included, which other work on the machine changes less. It has no peer, because no library that we know of
fetches, ranks, summarizes and cites."""

import statistics
import time

import psutil
import requests

from benchmarks.frame import command
from benchmarks.page_server import page_server
from benchmarks.synthetic import SyntheticCorpus, page_of
from storage.store import Store
from tasks.cited_summary.settings import SummarySettings
from tasks.explorer.article import read_article, read_page
from tasks.explorer.corpus import ExplorerCorpus

PAGES = 10
SETTINGS = SummarySettings(language=None)  # synthetic words are of no language
POLL_SECONDS = 0.02


def synthetic() -> tuple[str, list[bytes]]:
    """Return a title and ten pages of forty paragraphs, 30 KB each."""
    corpus = SyntheticCorpus(seed=2)
    return "Page 1", [page_of(f"Page {n}", corpus.texts(40, 70, corpus.topic())) for n in range(PAGES)]


def of_corpus(root: str) -> tuple[str, list[bytes]]:
    """Return title and pages of the first test article that has ten."""
    corpus = ExplorerCorpus(Store(root))
    corpus.wait()
    for article in corpus.find("", 0, 10_000).articles:
        if article["split"] != "test":
            continue
        addresses = read_article(corpus, article["shard"], article["article_id"]).addresses
        results = [
            read_page(corpus, address.host_shard, address.url)
            for address in addresses
            if address.fetched and address.host_shard is not None
        ]
        bodies = [page.body for page in results if page is not None][:PAGES]
        if len(bodies) == PAGES:
            return article["title"], bodies
    raise SystemExit(f"{root} has no test article with {PAGES} pages")


def processor_seconds() -> float:
    """Return the processor time of this process and its ended and running children."""
    own = psutil.Process()
    times = [own.cpu_times(), *(child.cpu_times() for child in own.children(recursive=True))]
    return sum(time.user + time.system for time in times) + times[0].children_user + times[0].children_system


def once(page: str, title: str, bodies: list[bytes]) -> tuple[float, float, float, str]:
    """Return seconds to the first progress, to the summary, of processor time, and the system's name."""
    started, used = time.perf_counter(), processor_seconds()
    files = [
        {"file": requests.post(f"{page}/api/files?name={n}.html", data=body, timeout=60).json()["id"]}
        for n, body in enumerate(bodies)
    ]
    id_ = requests.post(f"{page}/api/summaries", json={"title": title, "sources": files}, timeout=60).json()["id"]
    first = None
    while True:
        now = requests.get(f"{page}/api/summaries/{id_}", timeout=60).json()
        if first is None and now["share"] > 0:
            first = time.perf_counter() - started
        if now["state"] in ("done", "failed"):
            break
        time.sleep(POLL_SECONDS)
    total = time.perf_counter() - started
    system = requests.get(f"{page}/summary/{id_}/export.json", timeout=60).json()["system"]
    return first or total, total, processor_seconds() - used, system


def main(model: str | None = None, rounds: int = 5) -> None:
    """Print the medians of several rounds; the first one, which loads libraries, is shown apart."""
    title, bodies = synthetic() if model is None else of_corpus(model)
    print(f"{len(bodies)} pages, {sum(map(len, bodies)) / 1e3:,.0f} kB, title {title!r}")
    with page_server(model=model, settings=SETTINGS) as page:
        rounds = [once(page, title, bodies) for _ in range(rounds + 1)]
    print(f"system {rounds[0][3]}; the first of all summaries took {rounds[0][1]:.2f} s")
    for name, column in (("first progress", 0), ("summary", 1), ("processor time", 2)):
        values = [item[column] for item in rounds[1:]]
        print(f"{name:15} {statistics.median(values):6.2f} s   ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    command(main, __doc__)
