"""The report stage: content, quality and cost of a build, for the browser, the Prefect UI and the terminal."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from storage.schemas import RANKING_SCORES, SCORES
from tasks.engine.recipe import Shards
from tasks.engine.settings import Settings
from tasks.reporting import corpus, facts, stages
from tasks.reporting.blocks import WORDS, Text
from tasks.reporting.corpus_size import SAMPLED_SHARDS
from tasks.reporting.curves import model_curves, training_section
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page, summary, write_texts
from tasks.reporting.samples import attention_section, graphs_section, read_samples, samples_section
from tasks.reporting.scores import (
    Ranking,
    Table1,
    headline_section,
    headline_sentence,
    rank_systems,
    read_rows,
    scores_section,
    short_score_table,
    table1,
    table1_section,
)
from tasks.reporting.settings import ReportSettings

PAGE, SUMMARY, ARTIFACTS = "report.html", "summary.txt", "artifacts"
_SAMPLES = 5  # test articles shown with their summaries and source URLs
_OPEN = ("headline", "samples")  # sections of the page that are not folded


def write_report(
    *,
    baseline_scores: Shards,
    trained_scores: Shards,
    ranking_scores: Shards,
    baselines: Shards,
    predictions: Shards,
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
    For each article shard, `baseline_scores` and `baselines` hold the SCORES and PREDICTIONS of systems not trained
    here, one table a stage, and `trained_scores` and `predictions` those of each summarizer trained here.
    `ranking_scores`: (RANKING_SCORES,). `samples`: (articles, ranked, graphs). `texts`: (articles, paragraphs,
    features). `overlaps`: (overlaps,), None if articles were not compared. `documents`, None without a crawl, and
    `given`, None if the source gives none: (documents,) of each host shard and partition, whose columns on rights are
    counted. `ranker` and `summarizer` are directories, no ranker if the paragraphs were imported ranked. `counts` are
    the rows that each stage kept and refused, `took` its seconds, peak bytes and bytes on disk
    (`storage.builds.summarise`); `config` is the recipe of the build's settings, `seed` decides the resamples of the
    intervals.

    Return `published`, the files, and the headline numbers: in percent, by system and by L'. Raises CorruptShardError:
    a shard is damaged; ValueError: a metrics file of the training is, or an article has two scores of one system."""
    recipe = config.recipe() if isinstance(config, Settings) else config
    untrained, trained = (read_rows(shards, SCORES.schema) for shards in (baseline_scores, trained_scores))
    ranking = rank_systems(untrained, trained, settings, seed)
    recalls = table1(read_rows(ranking_scores, RANKING_SCORES.schema))
    collected = read_samples(samples, predictions, baselines, count=_SAMPLES, length_shards=SAMPLED_SHARDS)
    head = facts.gather_facts(recipe, counts, ranker, summarizer, seed=seed, test_articles=ranking.articles)
    rows = stages.funnel(counts)
    pages = [some for some in (documents, given) if some]
    instances = next((row.kept for row in rows if row.name == "articles"), None)
    written = [
        headline_section(ranking),
        samples_section(collected),
        facts.built(head),
        stages.funnel_section(rows, stages.tallies(counts)),
        corpus.copies_section(texts, len(texts), SAMPLED_SHARDS),
        *([] if overlaps is None else [corpus.across_section(overlaps, counts)]),
        *([corpus.rights_section(corpus.count_rights(pages))] if pages else []),
        stages.hosts_section(stages.failing_hosts(counts)),
        table1_section(recalls),
        scores_section(ranking, recipe.get("writer"), counts.get("written", {}).get("tally", {})),
        training_section(model_curves("ranker", ranker) if ranker else [], model_curves("summarizer", summarizer)),
        corpus.distributions_section(texts, len(texts), SAMPLED_SHARDS, collected.summary_words, instances),
        attention_section(collected),
        graphs_section(collected),
        stages.costs_section({stage: {**count, **took.get(stage, {})} for stage, count in counts.items()}),
        facts.settings_section(recipe),
    ]
    folded = [replace(section, folded=section.key not in _OPEN) for section in written]
    files = {PAGE: page(f"WikiSum build: {recipe.get('preset', 'no preset')}, seed {seed}", folded)}
    by_key = {section.key: section for section in written}
    short = [short_score_table(ranking)] if ranking.systems else []
    files[SUMMARY] = summary([*by_key["table1"].blocks, *short, Text(headline_sentence(ranking))])
    for key, shown in WORDS["artifacts"].items():
        files[f"{ARTIFACTS}/{key}.md"] = artifact([by_key[name] for name in shown if name in by_key])
    write_texts(directory, files)
    return {"published": list(files), **_headline(ranking, recalls)}


def _headline(ranking: Ranking, recalls: Table1) -> dict[str, Any]:
    cells = {system: ranking.scores.get((system, ranking.headline)) for system in ranking.systems}
    return {
        "test_articles": ranking.articles,
        "headline": ranking.headline,
        "headline_scores": {
            system: round(100 * score.value.mean, 4) for system, score in cells.items() if score is not None
        },
        "table1": {
            method: {str(cutoff): round(value, 4) for cutoff, value in measured.items()}
            for method, measured in recalls.measured.items()
        },
    }
