"""Tables and sentences as plain text, for the terminal at the end of a build."""

import textwrap
from collections.abc import Iterable

from tasks.reporting.blocks import Block, Table, Text, clean

WIDTH = 100  # columns of a sentence; tables are not wrapped


def summary(blocks: Iterable[Block]) -> str:
    """Return the tables and sentences among the blocks as text."""
    texts = []
    for block in blocks:
        if isinstance(block, Table):
            texts.append(_table(block))
        elif isinstance(block, Text):
            texts.append(textwrap.fill(clean(block.text), WIDTH))
    return "\n\n".join(texts) + "\n"


def _table(table: Table) -> str:
    rows = [[clean(column) for column in table.columns], *[[clean(cell.text) for cell in row] for row in table.rows]]
    widths = [max(len(row[index]) for row in rows) for index in range(len(table.columns))]
    lines = [
        "  ".join(
            text.rjust(width) if index in table.numeric else text.ljust(width)
            for index, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([clean(table.caption), *lines])
