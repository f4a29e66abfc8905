"""The report's section on licences, reserved rights, languages and personal data of the documents."""

from collections.abc import Sequence

from tasks.engine.recipe import Shards
from tasks.reporting.blocks import Block, Cell, ReportSection, Table, Text
from tasks.rights.totals import COLUMNS, PageTotals


def count_rights(stages: Sequence[Shards]) -> PageTotals:
    """Add up the documents of some stages, those of the crawl and those of the source; texts are not read. Raises
    CorruptShardError: a shard is gone, cut short or changed."""
    totals = PageTotals()
    for shards in stages:
        for (part,) in shards.parts:
            for batch in shards.store.read_batches(part.path, part.sha256, COLUMNS):
                totals.add(batch.to_pylist())
    return totals


def rights_section(totals: PageTotals) -> ReportSection:
    """Licences, reserved rights, languages and personal data of the documents with text, as tables."""
    if not totals.documents:
        return ReportSection("rights", "Rights and care", [Text("No document has text.")])
    blocks: list[Block] = [
        Text(
            f"Of {totals.documents:,} documents with text; a page counts once for each article that has it. Where no "
            "claim or sign was found there may still be one. `paragraphs.pages.keep` keeps only some of them."
        ),
        *(
            Table(
                heading.capitalize(),
                ["found", "number", "of documents, %"],
                [[Cell(cell) for cell in row] for row in rows],
                frozenset({1, 2}),
            )
            for heading, rows in totals.tables()
        ),
    ]
    return ReportSection("rights", "Rights and care", blocks)
