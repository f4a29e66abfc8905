"""The report stage: content, quality and cost of a build, for the browser, the Prefect UI and the terminal."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks.engine.recipe import Shards
from tasks.engine.settings import Settings
from tasks.reporting import sections as words
from tasks.reporting.across import across_section, count_overlaps
from tasks.reporting.blocks import Block, ReportSection, Text
from tasks.reporting.corpus_statistics import SAMPLED_SHARDS
from tasks.reporting.curves import ranker_curves, summarizer_curves
from tasks.reporting.facts import flatten, gather_facts
from tasks.reporting.findings import (
    Ranking,
    Table1,
    distributions,
    failing_hosts,
    funnel,
    rank_systems,
    read_scores,
    table1,
)
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page, summary
from tasks.reporting.rights import count_rights, rights_section
from tasks.reporting.samples import read_samples
from tasks.reporting.settings import ReportSettings
from tasks.reporting.verdicts import headline_sentence

PAGE, SUMMARY, ARTIFACTS = "report.html", "summary.txt", "artifacts"
_SAMPLES = 5  # test articles shown with their summaries and source URLs
_OPEN = ("headline", "samples")  # sections of the page that are not folded
# Which sections each artifact shows; its key keeps its history in the Prefect UI.
_ARTIFACTS = {
    "report-headline": ("headline", "samples"),
    "report-funnel": ("funnel", "across", "rights", "costs"),
    "report-hosts": ("hosts",),
    "report-table1": ("table1",),
    "report-scores": ("scores",),
    "report-training": ("training",),
    "report-distributions": ("distributions",),
    "report-attention": ("attention",),
    "report-graphs": ("graphs",),
}


def write_report(
    *,
    scores: Shards,
    samples: Shards,
    texts: Shards,
    documents: Shards | None = None,
    given: Shards | None = None,
    overlaps: Shards | None = None,
    ranker: Path | None = None,
    summarizer: Path,
    settings: ReportSettings,
    counts: Mapping[str, Mapping[str, Any]],
    config: Mapping[str, Any] | Settings,
    seed: int,
    directory: Path,
    took: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Write `report.html`, `summary.txt` and `artifacts/*.md`; equal inputs give equal bytes.

    All scores are in memory, everything else one shard at a time; of the texts only the first shards are read.

    Args:
        scores: (baseline scores, scores of the summarizer, ranking scores[, of each further summarizer][, of a
            language model]) of each article shard.
        samples: (articles, ranked, baseline predictions, predictions of the summarizer[, graphs[, those of each
            further summarizer][, of a language model]]) of each.
        texts: (articles, paragraphs, features) of each.
        documents: (documents,) of each host shard, whose columns on rights are counted; None without a crawl.
        given: (documents,) that the source gives, of each of its partitions; None if it gives none.
        overlaps: (overlaps,) of each article shard; None if articles were not compared.
        ranker: directory of the trained ranker; None if the paragraphs were imported ranked.
        summarizer: directory of the trained summarizer.
        counts: rows that each stage kept and refused (`storage.builds.summarise`).
        config: the recipe of the build's settings.
        seed: decides the resamples of the intervals.
        took: seconds, peak bytes and bytes on disk of each stage, from there too.

    Returns:
        `published`, the files, and the headline numbers: in percent, by system and by L'.

    Raises:
        CorruptShardError: a shard is damaged.
        ValueError: a metrics file of the training is damaged, or an article has two scores of one system."""
    recipe = config.recipe() if isinstance(config, Settings) else config
    baseline_scores, trained_scores, ranking_scores = read_scores(scores, len(recipe.get("further", ())))
    ranking = rank_systems(baseline_scores, trained_scores, settings, seed)
    recalls = table1(ranking_scores)
    collected = read_samples(samples, _SAMPLES, SAMPLED_SHARDS)
    lengths = distributions(texts, len(texts), SAMPLED_SHARDS)
    facts = gather_facts(recipe, counts, ranker, summarizer, seed=seed, test_articles=ranking.articles)
    stages = funnel(counts)
    instances = next((row.kept for row in stages if row.stage == "articles"), lengths.statistics.articles)
    written = [
        words.headline_section(ranking),
        words.samples_section(collected),
        words.built(facts),
        words.funnel_section(stages),
        *([] if overlaps is None else [across_section(count_overlaps(overlaps), counts)]),
        *([rights_section(count_rights(pages))] if (pages := [some for some in (documents, given) if some]) else []),
        words.hosts_section(failing_hosts(counts)),
        words.table1_section(recalls),
        words.scores_section(ranking, recipe.get("writer"), counts.get("written", {}).get("tally", {})),
        words.training_section(ranker_curves(ranker) if ranker else [], summarizer_curves(summarizer)),
        words.distributions_section(lengths, collected.summary_words, instances),
        words.attention_section(collected),
        words.graphs_section(collected),
        words.costs_section({stage: {**count, **took.get(stage, {})} for stage, count in counts.items()}),
        words.settings_section(list(flatten(recipe))),
    ]
    folded = [replace(section, folded=section.key not in _OPEN) for section in written]
    files = {PAGE: page(f"WikiSum build: {recipe.get('preset', 'no preset')}, seed {seed}", folded)}
    by_key = {section.key: section for section in written}
    files[SUMMARY] = summary(_terminal(by_key["table1"], ranking))
    for key, shown in _ARTIFACTS.items():
        files[f"{ARTIFACTS}/{key}.md"] = artifact([by_key[name] for name in shown if name in by_key])
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return {"published": list(files), **_headline(ranking, recalls)}


def _terminal(recalls: ReportSection, ranking: Ranking) -> list[Block]:
    """Return the blocks for the terminal: Table 1, the scores, and the verdict."""
    scores = [words.short_score_table(ranking)] if ranking.systems else []
    return [*recalls.blocks, *scores, Text(headline_sentence(ranking))]


def _headline(ranking: Ranking, recalls: Table1) -> dict[str, Any]:
    cells = {system: ranking.scores.get((system, ranking.headline)) for system in ranking.systems}
    return {
        "test_articles": ranking.articles,
        "headline": ranking.headline,
        "headline_scores": {
            system: round(100 * score.value.mean, 4) for system, score in cells.items() if score is not None
        },
        "table1": {
            row.method: {str(cutoff): round(value, 4) for cutoff, value in row.measured.items()} for row in recalls.rows
        },
    }
