"""Core-milliseconds an article and peak memory of the data stages of a build: articles of 525 paragraphs x 70 words.

    python -m benchmarks.stages [--articles N]

Every stage from the articles to the scores of baselines runs as in a build of one shard, with its pages in an archive;
each job in a process of its own, without Prefect. A tenth of the articles are built first: the difference tells what an
article costs, without what a job costs however few it has, such as loading a model. Peaks are of the whole corpus.

The sum is that of frontier, cleaning, clones, labels, tf-idf, graphs and encoding. It leaves out extraction, and the
learned ranker, whose LSTMs are small here, because they need a GPU at the papers' size. Peers are measured in
`labels` and `lexrank`, the crawl of a page in `crawl`. The exit status is 1 if the sum exceeds the goal, or a peak the
bar."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.frame import OptionError, command
from benchmarks.jobs import PlainPool, read_measured
from benchmarks.synthetic import DOCUMENTS, build_of_records, write_records
from flows import dag
from flows.running.estimates import CORPUS_ARTICLES
from flows.running.session import Session
from storage.store import Store
from tasks.engine.stage import Run

GOAL_MS, BAR_BYTES = 25.0, 1_500_000_000
COUNTED = ("frontier", "paragraphs", "features", "graphs", "examples")
LEAST = 20  # articles, so that both corpora have all splits


@dataclass(frozen=True)
class StageCost:
    """What a stage took: rows of its shard, 0 of a model; processor seconds; peak bytes of its process."""

    rows: int
    processor: float
    peak_bytes: int


def build(folder: Path, articles: int) -> dict[str, StageCost]:
    """Build a corpus in a folder, which is made, and return what each stage took, in the order of the work."""
    (measured := folder / "measured").mkdir(parents=True)
    write_records(folder / "articles.jsonl", articles, folder / "pages.warc.gz")
    config = build_of_records(
        folder / "articles.jsonl",
        folder / "root",
        shards=1,
        preset="paper",
        crawl={"archive": [str(folder / "pages.warc.gz")]},
        vocabulary={"threads": 1},
        ranker={"hidden": 32, "steps": 20, "validation_interval": 20},
    )
    pool = PlainPool(1, measured, fresh=True)
    session = Session(config, pool, Run(Store(config.root), pool))  # type: ignore[arg-type]
    with pool.serving():
        for stage in (dag.ranking_scores, dag.graphs, dag.examples, dag.baseline_scores):
            stage(session)
    taken = {job.stage: job for job in read_measured(measured)}
    results = {}
    for plan in session.run.plans:
        result, job = session.run.stages.get(plan.stage), taken[plan.stage]
        rows = 0 if result is None else sum(record.written.rows for record in result.in_order)
        results[plan.stage] = StageCost(rows, job.processor, job.peak_bytes)
    return results


def show(few: Mapping[str, StageCost], many: Mapping[str, StageCost], more: int) -> bool:
    """Print what each stage costs; return whether goal and bar are kept; the larger corpus has `more` articles."""
    each = {name: 1000 * (cost.processor - few[name].processor) / more for name, cost in many.items()}
    for name, cost in many.items():
        over = " OVER" if cost.peak_bytes > BAR_BYTES else ""
        counted = "*" if name in COUNTED else " "
        print(f"{name:18}{cost.rows:9,} rows{each[name]:9.2f} ms{counted}{cost.peak_bytes / 1e9:8.2f} GB{over}")
    total = sum(each[name] for name in COUNTED)
    hours = total / 1000 * CORPUS_ARTICLES / 3600
    reached = "reached" if total <= GOAL_MS else "missed"
    print(
        f"sum of * {total:.2f} ms   goal {GOAL_MS:.0f}: {reached}; {CORPUS_ARTICLES:,} articles: {hours:.1f} core-hours"
    )
    print(f"a page's extraction {each['documents'] / DOCUMENTS:.1f} ms; bar {BAR_BYTES / 1e9:.1f} GB")
    return total <= GOAL_MS and all(cost.peak_bytes <= BAR_BYTES for cost in many.values())


def main(articles: int = 1_000) -> int:
    """Print cost and memory of each stage; return the exit status."""
    if articles < 10 * LEAST:
        raise OptionError(f"expected --articles of at least {10 * LEAST}, got {articles}")
    with tempfile.TemporaryDirectory() as temporary:
        few, many = (build(Path(temporary) / str(count), count) for count in (articles // 10, articles))
    return 0 if show(few, many, articles - articles // 10) else 1


if __name__ == "__main__":
    command(main, __doc__)
