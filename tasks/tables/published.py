"""The papers' tables: figures by row and column (`published.toml`), and the system that corresponds to each row
(`systems.toml`): its preset at either size, and what it reads."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from tasks.engine.data_files import read_data
from tasks.summarization.settings import Graph

Figures = tuple[float | None, ...]


class Measure(StrEnum):
    """Kind of a table's figures."""

    ROUGE = "rouge"
    RECALL = "recall"
    ATTENTION = "attention"
    EFFICIENCY = "efficiency"


@dataclass(frozen=True)
class PublishedRow:
    """A row of a published table."""

    label: str  # its name in the paper
    system: str  # key of SYSTEMS; for recalls the method of RANKING_SCORES
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
    rows: Sequence[PublishedRow]  # in the paper's order
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


def _row(row: Mapping[str, Any], figures: int) -> PublishedRow:
    given = row.get("figures", [math.nan] * figures)
    return PublishedRow(**{**row, "figures": tuple(None if math.isnan(figure) else figure for figure in given)})


def _table(table: Mapping[str, Any]) -> PublishedTable:
    figures = len(table["columns"]) * max(1, len(table.get("corpora", ())))
    rows = tuple(_row(row, figures) for row in table["rows"])
    return PublishedTable(**{**table, "measure": Measure(table["measure"]), "rows": rows})


_DATA = read_data("tasks.tables", "published.toml")
PUBLISHED: Sequence[PublishedTable] = tuple(map(_table, _DATA["table"]))
PAPERS: Mapping[str, Sequence[str]] = _DATA["papers"]  # papers with equal training and decoding -> their tables


Kind = Literal["extractive", "flat", "hierarchical"]


@dataclass(frozen=True)
class TableSystem:
    """A row of a table."""

    kind: Kind  # extractive systems are not trained; flat ones read one sequence, hierarchical ones paragraphs
    preset: str = ""  # of the papers' size (`models/presets.toml`)
    small: str = ""  # preset for laptops
    overrides: Mapping[str, Any] = field(default_factory=dict)  # fields of the small preset that make it this system
    paragraphs: int = 24  # ranked paragraphs read in training, before `source_scale`
    tokens: int | None = None  # maximum number of tokens read of all paragraphs, before `source_scale`; None = no limit
    graph: Graph = "none"  # paragraph graph it reads
    ranked: bool = True  # whether paragraphs are ranked, or read as found
    model: str = ""  # the system whose trained model is used; "" = its own
    test_paragraphs: int | None = None  # paragraphs read when decoding, before `source_scale`; None = as in training
    # maximum number of tokens read of all paragraphs when decoding, before `source_scale`; None = as in training
    test_tokens: int | None = None
    # fields of the decoding settings that make it this system
    decoding: Mapping[str, Any] = field(default_factory=dict)
    # s, paragraphs of highest predicted attention read when decoding, before `source_scale`; None = all
    kept: int | None = None
    # pre-trained weights of its paper: without them it runs only at the small size, if it has a small preset
    weights: str = ""

    def lacks_weights(self, *, small: bool) -> bool:
        """Whether it cannot run at a size because its weights are missing."""
        return bool(self.weights) and not (small and self.small)

    @property
    def stands_for_its_kind(self) -> bool:
        """Whether it is compared with the other kind: complete, on ranked paragraphs, with plain search."""
        return self.kind != "extractive" and self.ranked and not self.overrides and not self.model


# kept by ranking (Liu & Lapata 2019, Table 1), and all that the released examples have (Ma & Zong 2022, sec. 5.1)
MOST_PARAGRAPHS = 40


def _read() -> Iterator[tuple[str, TableSystem]]:
    data = read_data("tasks.tables", "systems.toml")
    for family in data["family"]:
        common = {name: value for name, value in family.items() if name not in ("systems", "by_length")}
        beneath = data["by_length"] if family.get("by_length") else {}
        for name, own in family["systems"].items():
            yield name, TableSystem(**{**common, **own, "decoding": {**beneath, **own.get("decoding", {})}})


SYSTEMS: Mapping[str, TableSystem] = dict(_read())
