"""Core-milliseconds per article of 525 paragraphs x 70 words in each data stage, and what the whole WikiSum would cost.

    python -m benchmarks.stage_costs [--articles N]

Each stage runs in this process exactly as a job of a build, without Prefect: inputs are read from the store with their
checks, the result is digested and written. It runs first on a few articles, so that imports and models are loaded. The
sum leaves out extraction, the entities that spaCy finds, and the learned ranker, whose LSTMs need a GPU at the papers'
size; they are shown below it. Peers are measured where the column says. The crawl of a page is in benchmarks/crawl.py.
The exit status is 1 if the sum exceeds the goal.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from benchmarks.frame import command, processor_seconds
from benchmarks.labels import CORPUS_ARTICLES
from benchmarks.stage_memory import STAGES, MeasuredStage, make, needed, record_of
from benchmarks.synthetic import PAGES_PER_ARTICLE
from storage.store import Store
from tasks.summarization.settings import GraphSettings
from tasks.text.entities import entity_sets

GOAL_MS = 25.0
WARM_ARTICLES = 4
PAGE_PARAGRAPHS = 40  # of a synthetic page
ARTICLE_PARAGRAPHS = 525  # Liu & Lapata 2019, sec. 4
COUNTED: Mapping[str, tuple[str, str]] = {  # stage -> what it does, and where its peer is measured
    "frontier": ("crawl intake", ""),
    "paragraphs": ("clean, clones", "labels"),
    "features": ("labels, tf-idf", "labels, lexrank"),
    "ranked": ("rank by similarity", ""),
    "graphs": ("graphs", "lexrank"),
    "examples": ("encode", ""),
}
BY_SIMILARITY = replace(
    STAGES["ranked"],
    inputs={name: read for name, read in STAGES["ranked"].inputs.items() if name != "ranker_directory"},
    changes={"method": "similarity"},
    arguments={"ranker_directory": None},
)


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the processor seconds of a function in this process and in processes that it starts and ends."""

    started = processor_seconds()
    work()
    return processor_seconds() - started


def stage_seconds(stages: Mapping[str, MeasuredStage], root: str, articles: int) -> dict[str, float]:
    """Make the counted stages, extraction and all their inputs; return the processor seconds of each."""
    with patch.dict(STAGES, stages):
        return {
            name: seconds_of(lambda name=name: make(name, root, articles)) for name in needed([*COUNTED, "extraction"])
        }


def entity_seconds(root: str) -> float:
    """Return the processor seconds that spaCy takes for the paragraphs of `graphs`."""
    store, settings = Store(root), GraphSettings()
    record = record_of(store, "ranked")
    assert record is not None
    texts = store.read_table(record.path, record.written.sha256)["text"].to_pylist()
    types = frozenset(settings.entity_types)
    return seconds_of(lambda: list(entity_sets(texts, settings.spacy_pipeline, types)))


def show(seconds: Mapping[str, float], entities: float, articles: int) -> float:
    """Print what the stages cost; return the sum of the counted ones, in milliseconds an article.

    `seconds` are those of a processor for all articles; those of `graphs` include spaCy's, which `entities` has alone.
    """
    cost = {name: 1000 * used / articles for name, used in seconds.items()}
    cost["graphs"] -= (spacy := 1000 * entities / articles)
    for name, (what, peer) in COUNTED.items():
        print(f"{name:14}{what:22}{cost[name]:8.2f} ms   {f'peer in benchmarks/{peer}' if peer else ''}".rstrip())
    total = sum(cost[name] for name in COUNTED)
    hours = total / 1000 * CORPUS_ARTICLES / 3600
    reached = "reached" if total <= GOAL_MS else "missed"
    print(f"sum{total:41.2f} ms   goal {GOAL_MS:.0f}: {reached}; {CORPUS_ARTICLES:,} articles: {hours:.1f} core-hours")
    page = cost["extraction"] / PAGES_PER_ARTICLE
    pages = ARTICLE_PARAGRAPHS / PAGE_PARAGRAPHS
    print(f"{'graphs':14}{'entities by spaCy':22}{spacy:8.2f} ms")
    print(f"{'extraction':14}{f'{pages:.0f} pages, {page:.1f} ms each':22}{pages * page:8.2f} ms")
    return total


def main(articles: int = 60) -> int:
    """Print the cost of each stage; return the exit status."""
    for count in (WARM_ARTICLES, articles):
        with tempfile.TemporaryDirectory() as root:
            seconds = stage_seconds({"ranked": BY_SIMILARITY}, root, count)
            entities = entity_seconds(root)
    return 0 if show(seconds, entities, articles) <= GOAL_MS else 1


if __name__ == "__main__":
    command(main, __doc__)
