"""The papers' tables: figures by row and column, and the system that corresponds to each row (`published.toml`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tasks.engine.data_files import read_data

Figures = tuple[float | None, ...]


class Measure(StrEnum):
    """Kind of a table's figures."""

    ROUGE = "rouge"
    RECALL = "recall"
    ATTENTION = "attention"
    EFFICIENCY = "efficiency"


@dataclass(frozen=True)
class Row:
    """A row of a published table."""

    label: str  # its name in the paper
    system: str  # key of `tasks.tables.systems.SYSTEMS`; for recalls the method of RANKING_SCORES
    figures: Figures  # one per column, or those of each corpus one after another; None is an unknown figure
    relative: bool = False  # the figures are differences from the table's base


@dataclass(frozen=True)
class PublishedTable:
    """A published table."""

    name: str  # PAPER-TABLE
    title: str
    source: str  # paper and number of the table
    measure: Measure
    columns: Sequence[str]  # headings of the figures
    rows: Sequence[Row]  # in the paper's order
    note: str = ""  # note on the figures for readers
    corpora: Sequence[str] = ()  # the corpora of its figures, where it has several; ours is another one
    base: str = ""  # system of the row from which relative rows differ
    digits: int = 2  # digits after the point of its ROUGE


# Heading of a column of ROUGE -> metric and measure of SCORES.
ROUGE_COLUMNS = {
    f"{name}{suffix}": (metric, measure)
    for name, metric in (("R-1", "rouge1"), ("R-2", "rouge2"), ("R-L", "rougeL"))
    for suffix, measure in (("", "value"), (" F1", "value"), (" P", "precision"), (" R", "recall"))
}


def _row(row: Mapping[str, Any], figures: int) -> Row:
    given = row.get("figures", [math.nan] * figures)
    return Row(**{**row, "figures": tuple(None if math.isnan(figure) else figure for figure in given)})


def _table(table: Mapping[str, Any]) -> PublishedTable:
    figures = len(table["columns"]) * max(1, len(table.get("corpora", ())))
    rows = tuple(_row(row, figures) for row in table["rows"])
    return PublishedTable(**{**table, "measure": Measure(table["measure"]), "rows": rows})


PUBLISHED: Sequence[PublishedTable] = tuple(map(_table, read_data("tasks.tables", "published.toml")["table"]))
