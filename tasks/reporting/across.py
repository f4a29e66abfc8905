"""The report's section on what articles share: near-duplicates, and held-out articles in training sources."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tasks.across.refusals import AcrossReason
from tasks.reporting.blocks import Block, Cell, ReportSection, Table, Text

_RELATIONS = {
    "in_article": "nearly equal to an earlier one of the same article",
    "in_other": "nearly equal to an earlier one of another article",
    "in_held_out": "of training articles, nearly equal to one of a validation or test article",
    "lead": "of training articles, with 13 words in a row of a validation or test lead",
}
_KINDS = {False: "paragraphs", True: "documents"}

Overlaps = Mapping[tuple[bool, str], tuple[int, int]]
"""Whether documents are counted, and a relation -> rows, and articles that have such a row."""


def count_overlaps(shards: Iterable[tuple[pa.Table, ...]]) -> Overlaps:
    """Add up the rows of `overlaps`, one shard in memory at a time."""
    rows: Counter[tuple[bool, str]] = Counter()
    articles: Counter[tuple[bool, str]] = Counter()
    for (table,) in shards:
        for whole in _KINDS:
            kind = table.filter(pc.equal(table["whole"], whole))
            for relation in _RELATIONS:
                found = kind.filter(kind[relation])
                rows[whole, relation] += found.num_rows
                articles[whole, relation] += pc.count_distinct(found["article"]).as_py()
    return {key: (rows[key], articles[key]) for key in rows}


def across_section(overlaps: Overlaps, counts: Mapping[str, Mapping[str, Any]]) -> ReportSection:
    """What articles share, as rows of a table, and what of it was refused."""
    given = counts.get("paragraphs", {})
    kept = given.get("rows", 0) - sum(given.get("drops", {}).values())
    rows = [
        [
            Cell(f"{_KINDS[whole]} {meaning}"),
            Cell(f"{found:,}"),
            _share(found, kept) if not whole else Cell("–"),
            Cell(f"{articles:,}"),
        ]
        for whole in _KINDS
        for relation, meaning in _RELATIONS.items()
        for found, articles in [overlaps.get((whole, relation), (0, 0))]
        if not (whole and relation == "lead")  # leads are looked for in paragraphs
    ]
    refused = counts.get("compared", {}).get("drops", {})
    leaks, copies = (f"{refused.get(reason, 0):,}" for reason in (AcrossReason.LEAK, AcrossReason.NEAR_DUPLICATE))
    blocks: list[Block] = [
        Text(
            "Nearly equal means a Jaccard similarity of .75 and more of their sets of words; of copies with 5 % of the "
            "words changed 99 % are found, with 10 % it is 93 %. Validation and test articles come first, then the "
            "order is by article: the first of several stays. Paragraphs of fewer than 10 words are not compared."
        ),
        Table(
            "What articles share", ["relation", "rows", "of kept paragraphs, %", "articles"], rows, frozenset({1, 2, 3})
        ),
        Text(f"Refused: {leaks} paragraphs as leak, {copies} as near_duplicate."),
    ]
    return ReportSection("across", "Across articles", blocks)


def _share(part: int, total: int) -> Cell:
    return Cell(f"{100 * part / total:.2f}", share=part / total) if total else Cell("–")
