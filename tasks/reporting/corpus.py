"""Properties of a corpus' texts: lengths and labels, what articles share, and rights."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tasks.engine.recipe import Shards
from tasks.near_duplicates.refusals import AcrossReason
from tasks.paragraphs.filter import REPEATS_LEAD
from tasks.reporting import plots
from tasks.reporting.blocks import NONE, WORDS, Block, Picture, Row, Text, section, share_cell, table_of
from tasks.reporting.corpus_size import Words, count_words, mean_sizes, shard_sizes, statistics_table
from tasks.rights.totals import COLUMNS, PageTotals

_KINDS = {False: "paragraphs", True: "documents"}


@section("distributions", "Lengths and labels")
def distributions_section(
    texts: Iterable[tuple[pa.Table, ...]],
    total: int,
    shards: int,
    summary_words: Mapping[str, np.ndarray],
    instances: int | None,
) -> Iterator[Block]:
    """Lengths of paragraphs, leads and summaries in words (separated by spaces), the labels, and the size of all
    `instances` articles; None = those read. Only the first of `total` shards of (articles, paragraphs, features) are
    read."""
    words: list[Words] = [np.zeros(0, np.int64)]
    leads: list[Words] = [np.zeros(0, np.int64)]
    labels: list[NDArray[np.float32]] = [np.zeros(0, np.float32)]
    sizes = []
    for articles, paragraphs, features in islice(texts, shards):
        # Words are counted before rows are selected, because selecting rows would copy their texts.
        counts = count_words(paragraphs["text"])
        sizes.append(shard_sizes(articles, paragraphs, counts))
        words.append(counts[pc.is_null(paragraphs["drop_reason"]).to_numpy()])
        leads.append(count_words(articles["lead"])[pc.is_null(articles["drop_reason"]).to_numpy()])
        labels.append(features["rouge2_recall"].to_numpy())
    paragraph_words, lead_words, recalls = np.concatenate(words), np.concatenate(leads), np.concatenate(labels)
    groups: list[tuple[str, np.ndarray]] = [
        ("kept paragraphs, words", paragraph_words),
        ("labels: ROUGE-2 recall, %", 100 * recalls),
        ("lead sections, words", lead_words),
        *[(f"summaries of {system}, words", words) for system, words in summary_words.items()],
    ]
    rows: list[Row] = [[name, *_quantiles(values)] for name, values in groups if len(values)]
    if not rows:
        yield Text("No paragraph was kept and no lead section used.")
        return
    yield Text(WORDS["legends"]["distributions"].format(shards=min(shards, total), of=total))
    yield table_of("Distributions", ["length or label", "count", "5 %", "median", "mean", "95 %", "most"], rows)
    statistics = mean_sizes(sizes)
    yield statistics_table(statistics, statistics.articles if instances is None else instances)
    if len(paragraph_words):
        png = plots.histogram(paragraph_words, "length (words)", of="paragraphs")
        yield Picture("Length of kept paragraphs", png)
    if len(recalls):
        png = plots.histogram(recalls, "ROUGE-2 recall (0-1)", of="paragraphs", logarithmic=True)
        yield Picture("Labels of paragraphs; counts on a logarithmic axis", png)
    lengths = {"lead sections": lead_words, **summary_words}
    if shown := {name: values for name, values in lengths.items() if len(values)}:
        caption = "Length of lead sections and summaries: middle half with its median, and 5th to 95th percentile"
        yield Picture(caption, plots.boxes(shown, "length (words)"))


def _quantiles(values: np.ndarray) -> list[str]:
    low, median, high = np.quantile(values, [0.05, 0.5, 0.95])
    digits = 0 if np.issubdtype(values.dtype, np.integer) else 1
    shown = [low, median, float(values.mean(dtype=np.float64)), high, values.max()]
    return [f"{len(values):,}", *[f"{x:,.{digits}f}" for x in shown]]


@section("across", "Across articles")
def across_section(
    overlaps: Iterable[tuple[pa.Table, ...]], counts: Mapping[str, Mapping[str, Any]]
) -> Iterator[Block]:
    """What articles share, by the rows of `overlaps`, a shard in memory at a time, and how much of it was refused."""
    result: Counter[tuple[bool, str]] = Counter()
    articles: Counter[tuple[bool, str]] = Counter()  # that have such a row
    for (shard,) in overlaps:
        for whole in _KINDS:
            kind = shard.filter(pc.equal(shard["whole"], whole))
            for relation in WORDS["relations"]:
                some = kind.filter(kind[relation])
                result[whole, relation] += some.num_rows
                articles[whole, relation] += pc.count_distinct(some["article"]).as_py()
    given = counts.get("paragraphs", {})
    kept = given.get("rows", 0) - sum(given.get("drops", {}).values())
    rows: list[Row] = []
    for whole, name in _KINDS.items():
        for relation, meaning in WORDS["relations"].items():
            if not (whole and relation == "lead"):  # leads are looked for in paragraphs
                key = (whole, relation)
                share = NONE if whole else share_cell(result[key], kept, digits=2)
                rows.append([f"{name} {meaning}", result[key], share, articles[key]])
    refused = counts.get("compared", {}).get("drops", {})
    leaks, copies = (f"{refused.get(reason, 0):,}" for reason in (AcrossReason.LEAK, AcrossReason.NEAR_DUPLICATE))
    yield Text(WORDS["legends"]["across"])
    yield table_of("What articles share", ["relation", "rows", "of kept paragraphs, %", "articles"], rows)
    yield Text(f"Refused: {leaks} paragraphs as leak, {copies} as near_duplicate.")


@section("copies", "Leads in the sources")
def copies_section(texts: Iterable[tuple[pa.Table, ...]], total: int, shards: int) -> Iterator[Block]:
    """How many leads of each split occur in a source, whole or a paragraph of them, by the reasons of paragraphs. Only
    the first of `total` shards of (articles, paragraphs, features) are read."""
    used: Counter[str] = Counter()
    copied: Counter[str] = Counter()
    repeats = pa.array(sorted(REPEATS_LEAD), pa.string())
    for articles, paragraphs, *_ in islice(texts, shards):
        kept = articles.filter(pc.is_null(articles["drop_reason"]))
        repeated = paragraphs.filter(pc.is_in(paragraphs["drop_reason"], repeats))["article_id"]
        used.update(kept["split"].to_pylist())
        copied.update(kept.filter(pc.is_in(kept["article_id"], pc.unique(repeated)))["split"].to_pylist())
    rows: list[Row] = [
        [split, used[split], copied[split], share_cell(copied[split], used[split])]
        for split in ("train", "valid", "test")
        if used[split]
    ]
    yield Text(WORDS["legends"]["copies"].format(shards=min(shards, total), of=total))
    yield table_of("Leads that occur in a source", ["split", "articles", "with such a source", "of articles, %"], rows)


def count_rights(stages: Sequence[Shards]) -> PageTotals:
    """Add up the documents of some stages, those of the crawl and those of the source; texts are not read. Raises
    CorruptShardError: a shard is gone, cut short or changed."""
    totals = PageTotals()
    for shards in stages:
        for (part,) in shards.parts:
            for batch in shards.store.read_batches(part.path, part.sha256, COLUMNS):
                totals.add(batch.to_pylist())
    return totals


@section("rights", "Rights and care")
def rights_section(totals: PageTotals) -> Iterator[Block]:
    """Licences, reserved rights, languages and personal data of the documents with text, as tables."""
    if not totals.documents:
        yield Text("No document has text.")
        return
    yield Text(WORDS["legends"]["rights"].format(documents=totals.documents))
    for heading, rows in totals.tables():
        yield table_of(heading.capitalize(), ["found", "number", "of documents, %"], rows)
