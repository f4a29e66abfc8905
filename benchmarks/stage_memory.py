"""Peak memory of CPU stages at 1,000 articles of 525 paragraphs x 70 words per shard.

    python -m benchmarks.stage_memory [--stages STAGE ...] [--articles N] [--keep DIRECTORY]

Each stage runs in a separate process, exactly as in a build: inputs are read from the store with their checks, the
result is digested and written. The peak is the highest resident memory of that process and of the largest process it
started. A stage's inputs are made first, in their own processes, including synthetic articles, documents and pages;
--keep keeps them, and a later call makes only the missing ones. The exit status is 1 if a stage exceeds the bar. To
measure another stage, add its line to STAGES.
"""

import resource
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pkgutil import resolve_name
from typing import Any

from benchmarks.frame import OptionError, apart, command
from storage.directories import find_directory
from storage.recipes import ShardRecord, find_record
from storage.store import Store
from tasks.engine.inputs import DirectoryResult, Input, StageResult, contents, every, gathered, only, same
from tasks.engine.shard import Job, make_directory, make_shard

BAR_BYTES = 1_500_000_000
RANKER = "models/ranker"


@dataclass(frozen=True)
class MeasuredStage:
    """How to run a stage."""

    function: str  # the stage's function, as module:name; loaded in the stage's process only
    # Argument -> how it is read, and from which lines of STAGES; empty for synthetic data, whose argument is `articles`
    inputs: Mapping[str, tuple[Callable[..., Input], tuple[str, ...]]] = field(default_factory=dict)
    settings: str | None = None  # its settings class, as module:name, or None
    changes: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the default
    arguments: Mapping[str, Any] = field(default_factory=dict)  # the function's further arguments
    dataset: str | None = None  # its output, if that is not named like its line; a name with a slash is a directory
    measured: bool = True  # whether its peak counts


def _synthetic(function: str, dataset: str | None = None) -> MeasuredStage:
    return MeasuredStage(f"benchmarks.synthetic:{function}", dataset=dataset, measured=False)


ARTICLES = {"articles": (same, ("articles",))}
PARAGRAPHS = {"paragraphs": (same, ("paragraphs",))}
FEATURES = {"features": (same, ("features",))}
RANKED = {"ranked": (same, ("ranked",))}

STAGES = {
    "articles": _synthetic("make_articles"),
    "search": _synthetic("make_search"),
    "documents": _synthetic("make_documents"),
    "host_frontier": _synthetic("make_host_frontier", "frontier"),
    "pages": _synthetic("make_pages"),
    "frontier": MeasuredStage(
        "tasks.crawl.frontier:build_frontier",
        {**ARTICLES, "search": (same, ("search",))},
        "tasks.crawl.settings:CrawlSettings",
        arguments={"article_shard": 0, "host_shards": 64},
    ),
    "extraction": MeasuredStage(
        "tasks.extraction.documents:extract_documents",
        {"frontier": (gathered, ("host_frontier",)), "pages": (partial(same, batches=True), ("pages",))},
        "tasks.extraction.settings:ExtractSettings",
        dataset="documents",
    ),
    "paragraphs": MeasuredStage(
        "tasks.paragraphs.paragraphs:build_paragraphs",
        {**ARTICLES, "documents": (gathered, ("documents",))},
        "tasks.paragraphs.settings:ParagraphSettings",
    ),
    "features": MeasuredStage("tasks.ranking.features:compute_features", {**ARTICLES, **PARAGRAPHS}),
    "vocabulary": MeasuredStage(
        "tasks.summarization.vocabulary:train_vocabulary",
        {"shards": (every, ("articles", "paragraphs"))},
        "tasks.summarization.settings:VocabularySettings",
        # A shard has too few leads to fill their part of the sample: paragraphs fill it all, as in a large build.
        changes={"threads": 1},
        arguments={"seed": 1, "lead_characters": 1, "paragraph_characters": 50_000_000},
    ),
    RANKER: MeasuredStage(
        "benchmarks.synthetic:make_ranker",
        {"vocabulary": (only, ("vocabulary",))},
        arguments={"size": 32},  # LSTMs of 256 take fifteen times as long and need 0.1 GB more
        measured=False,
    ),
    "ranked": MeasuredStage(
        "tasks.ranking.ranking:rank_paragraphs",
        {**ARTICLES, **PARAGRAPHS, **FEATURES, "ranker_directory": (contents, (RANKER,))},
        "tasks.ranking.settings:RankingSettings",
    ),
    "graphs": MeasuredStage(
        "tasks.summarization.graphs:build_graphs", RANKED, "tasks.summarization.settings:GraphSettings"
    ),
    "examples": MeasuredStage(
        "tasks.summarization.examples:build_examples",
        {**ARTICLES, **RANKED, "vocabulary": (only, ("vocabulary",))},
        "tasks.summarization.settings:ExampleSettings",
    ),
    "ranking_scores": MeasuredStage(
        "tasks.ranking.scores:score_rankings",
        {**ARTICLES, **PARAGRAPHS, **FEATURES, **RANKED},
        arguments={"splits": ("train",)},  # all synthetic articles: more than a build scores
    ),
    "baselines": MeasuredStage(
        "tasks.evaluation.baselines:predict_baselines",
        {**ARTICLES, **RANKED},
        "tasks.evaluation.settings:BaselineSettings",
        arguments={"split": "train"},
        dataset="predictions",
    ),
    "scores": MeasuredStage(
        "tasks.evaluation.scoring:score_predictions",
        {**ARTICLES, **PARAGRAPHS, "ranked": (same, ("ranked",)), "predictions": (same, ("baselines",))},
        "tasks.evaluation.settings:ScoringSettings",
    ),
}


def record_of(store: Store, name: str) -> ShardRecord | None:
    """Return the record of a line's only shard, or None before it is made."""
    dataset = STAGES[name].dataset or name
    return find_record(store, store.sizes(dataset), dataset, 0, name)


def result_of(store: Store, name: str, shards: int = 1) -> StageResult | DirectoryResult:
    """Return the result of a line of STAGES, its only shard repeated if a stage reads several."""
    if name == RANKER:
        return DirectoryResult(name, find_directory(store, name, "untrained"))
    record = record_of(store, name)
    assert record is not None, f"{name} was not made"
    return StageResult(record.stage, range(shards), dict.fromkeys(range(shards), record))


def make(name: str, root: str, articles: int) -> dict[str, float]:
    """Make a line's only shard in this process; return rows, seconds and peak bytes, for its caller to read."""
    store, chosen = Store(root), STAGES[name]
    inputs = {}
    for argument, (read, names) in chosen.inputs.items():
        # Two shards of each, because the second is read while the first is still in memory.
        results = [result_of(store, one, shards=2 if read is every else 1) for one in names]
        inputs[argument] = read(*results).loading(0)
    directory = name == RANKER
    job = Job(
        root=root,
        stage=chosen.dataset or name,
        version=0,
        shard=0,
        key="untrained" if directory else name,
        function=chosen.function,
        inputs=inputs,
        digests={},
        settings=resolve_name(chosen.settings)(**chosen.changes) if chosen.settings else None,
        arguments=chosen.arguments if chosen.inputs else {"articles": articles},
    )
    made = make_directory(job) if directory else make_shard(job)
    used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    rows = made.written.rows if isinstance(made, ShardRecord) else 0
    return {"rows": rows, "seconds": made.seconds, "peak": sum(used) * (1 if sys.platform == "darwin" else 1024)}


def needed(names: list[str]) -> list[str]:
    """Return the stages and all their inputs, inputs first."""
    order: dict[str, None] = {}
    for name in names:
        read = [one for _, names in STAGES[name].inputs.values() for one in names]
        order |= dict.fromkeys([*needed(read), name])
    return list(order)


def is_made(root: str, name: str) -> bool:
    """Whether an earlier call left a line's result."""
    store = Store(root)
    return (find_directory(store, name, "untrained") if name == RANKER else record_of(store, name)) is not None


def measure(names: list[str], root: str, articles: int) -> bool:
    """Make the stages and their inputs, print each one's peak, and return whether one exceeded the bar."""
    missed = False
    for name in needed(names):
        if name not in names and is_made(root, name):
            continue
        made = apart(make, name, root, articles)
        over = STAGES[name].measured and made["peak"] > BAR_BYTES
        missed |= over
        note = " OVER" if over else "" if STAGES[name].measured else " (input)"
        print(
            f"{name:15}{made['rows']:9} rows{made['seconds']:8.1f} s{made['peak'] / 1e9:7.2f} GB peak{note}", flush=True
        )
    return missed


def main(stages: tuple[str, ...] = (), articles: int = 1000, keep: str | None = None) -> int:
    """Print the peak of each stage; return the exit status."""
    measured = [name for name, stage in STAGES.items() if stage.measured]
    if unknown := set(stages) - set(STAGES):
        raise OptionError(f"unknown stages {sorted(unknown)}: expected some of {measured}")
    with tempfile.TemporaryDirectory() as temporary:
        missed = measure(stages or measured, keep or temporary, articles)
    print(f"bar {BAR_BYTES / 1e9} GB at {articles} articles a shard")
    return 1 if missed else 0


if __name__ == "__main__":
    command(main, __doc__)
