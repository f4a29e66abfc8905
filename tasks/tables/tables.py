"""The tables stage: the papers' tables of a corpus, for the browser, the Prefect UI and the terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.engine.recipe import Shards
from tasks.evaluation.significance import SIGNIFICANCE
from tasks.reporting.blocks import Block, ReportSection, Text
from tasks.reporting.markdown import artifact
from tasks.reporting.page import page, summary
from tasks.reporting.settings import ReportSettings
from tasks.tables.attention import METRIC, score_attention
from tasks.tables.layout import section
from tasks.tables.measures import TableFigures, measure
from tasks.tables.plan import PAGE
from tasks.tables.published import PUBLISHED, Measure
from tasks.tables.settings import TableSettings
from tasks.tables.verdicts import expected_order

_SUMMARY = "summary.txt"
_PARAGRAPHS = 30  # of Ma & Zong 2020 and 2022, before `source_scale`


def write_tables(
    *,
    scores: Shards,
    attention: Shards,
    settings: TableSettings,
    reporting: ReportSettings,
    parameters: Mapping[str, int],
    validation: Mapping[str, Sequence[float]],
    batches: Mapping[str, Sequence[Any]],
    reasons: Mapping[str, str],
    steps: int,
    seed: int,
    directory: Path,
) -> dict[str, Any]:
    """Write `tables.html`, `summary.txt` and `artifacts/table-*.md`; equal inputs give equal bytes.

    All scores are in memory, and the predictions of one article shard at a time. `scores`: (RANKING_SCORES, SCORES of
    the baselines, SCORES of each system) of each shard; `attention`: (ARTICLES, RANKED, PREDICTIONS of the baselines,
    PREDICTIONS of each system whose attention a table shows) of each. Other mappings are as in `TableFigures`; each
    system was trained for `steps`.

    Return `published`, the files, and the headline metric in percent by system. Raises CorruptShardError: a shard is
    damaged; ValueError: an article has two scores of one system."""
    wanted = [table for table in PUBLISHED if table.name in settings.tables]
    looked_at = sorted({row.system for table in wanted if table.measure is Measure.ATTENTION for row in table.rows})
    run = [system for system in looked_at if system not in reasons]
    measured = measure(
        scores,
        score_attention(attention, run, settings.scaled(_PARAGRAPHS)),
        parameters=parameters,
        validation={system: (seconds, int(articles)) for system, (seconds, articles) in validation.items()},
        batches={system: (batch, method) for system, (batch, method) in batches.items()},
        reasons=reasons,
        headline=reporting.headline,
        significance=SIGNIFICANCE,
        seed=seed,
    )
    sections = [section(table, measured) for table in wanted]
    sentence = expected_order(measured, source_scale=settings.source_scale, steps=steps)
    files = _files(sections, sentence, _scope(settings, measured, steps))
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return {"published": list(files), "headline": measured.headline, "f1": _headline(measured), "order": sentence}


def _files(sections: list[ReportSection], sentence: str, scope: str) -> dict[str, str]:
    head = ReportSection("order", "What was found", [Text(sentence), Text(scope)])
    files = {PAGE: page("The papers' tables on this corpus", [head, *sections])}
    blocks: list[Block] = [block for section in sections for block in section.blocks]
    files[_SUMMARY] = summary([*blocks, Text(scope), Text(sentence)])
    for part in sections:
        files[f"artifacts/{part.key}.md"] = artifact([part])
    return files


def _scope(settings: TableSettings, measured: TableFigures, steps: int) -> str:
    articles = max((score.articles for (_, metric), score in measured.scores.items() if metric != METRIC), default=0)
    return (
        f"Measured on {articles:,} test articles of this corpus with presets of size “{settings.size}”, sources "
        f"{settings.source_scale:g} times the papers' lengths and {steps:,} training steps a system; published figures "
        "are from another corpus, so compare the order of rows."
    )


def _headline(measured: TableFigures) -> dict[str, float]:
    return {
        system: round(100 * score.value.mean, 4)
        for (system, metric), score in measured.scores.items()
        if metric == measured.headline
    }
