"""What a published table is: figures by row and column, and the system that corresponds to each row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.tables.settings import TableName

Figures = tuple[float | None, ...]
Measure = Literal["rouge", "recall", "attention", "efficiency"]


@dataclass(frozen=True)
class Row:
    """A row of a published table.

    Attributes:
        label: its name in the paper.
        system: key of `tasks.tables.systems.SYSTEMS`; for recalls the method of RANKING_SCORES.
        figures: one per column, or those of each corpus one after another; None is an unknown figure.
        relative: the figures are differences from the table's base.
    """

    label: str
    system: str
    figures: Figures
    relative: bool = False


@dataclass(frozen=True)
class PublishedTable:
    """A published table.

    Attributes:
        name: PAPER-TABLE.
        title: what it shows.
        source: paper and number of the table.
        measure: kind of its figures.
        columns: headings of the figures.
        rows: in the paper's order.
        note: note on the figures for readers.
        corpora: the corpora of its figures, where it has several; ours is another one.
        base: system of the row from which relative rows differ.
        digits: digits after the point of its ROUGE.
    """

    name: TableName
    title: str
    source: str
    measure: Measure
    columns: Sequence[str]
    rows: Sequence[Row]
    note: str = ""
    corpora: Sequence[str] = ()
    base: str = ""
    digits: int = 2


# Heading of a column of ROUGE -> metric and measure of SCORES.
ROUGE_COLUMNS = {
    f"{name}{suffix}": (metric, measure)
    for name, metric in (("R-1", "rouge1"), ("R-2", "rouge2"), ("R-L", "rougeL"))
    for suffix, measure in (("", "value"), (" F1", "value"), (" P", "precision"), (" R", "recall"))
}
F1 = ("R-1", "R-2", "R-L")
