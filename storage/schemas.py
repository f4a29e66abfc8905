"""The Arrow schema of every stage, as `schemas.toml` in this folder describes it.

A dataset is a stage's output. That file has its columns, their meaning and the version that rises with it; this one has
the types by the names it uses, and a constant a dataset."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from storage.page_columns import DESCRIBED, PERSONAL_DATA, QUALITY_SIGNALS


@dataclass(frozen=True)
class Dataset:
    """One stage's table: its schema and how its shards are laid out."""

    name: str  # stage name, also the directory below the root
    version: int  # rises when a column's meaning or the layout changes
    schema: pa.Schema  # Arrow schema; each field's metadata holds its description under `doc`
    grouped_by: str | None = None  # column with the destination shard of a row, each a row group; None: read whole
    reason: str | None = None  # column that says why a row was refused (null = kept); None: none is
    # columns left out of row-group digests, because they differ between equal runs (fetch times)
    unstable: frozenset[str] = field(default_factory=frozenset)
    # column whose values with the most refused rows are listed in a shard's record, or None. All rows of a value must
    # be in one shard, so that the worst values overall are among the worst of each shard
    blamed: str | None = None

    def __post_init__(self) -> None:
        for column in (self.grouped_by, self.reason, self.blamed, *self.unstable):
            assert column is None or column in self.schema.names, f"{self.name} has no column {column}"

    def __reduce__(self) -> tuple[Callable[[str], "Dataset"], tuple[str]]:
        """Pickle the name alone: jobs have it."""
        return _dataset, (self.name,)

    @property
    def stable(self) -> list[str]:
        """Return the columns that have equal values in equal runs."""
        return [column for column in self.schema.names if column not in self.unstable]


# types that have no short name of Arrow's, and those that the file writes often
_TYPES: dict[str, pa.DataType] = {
    "text": pa.large_string(),
    "texts": pa.list_(pa.large_string()),
    "strings": pa.list_(pa.string()),
    "numbers": pa.list_(pa.int32()),
    "flags": pa.list_(pa.bool_()),
    "body": pa.large_binary(),
    "time": pa.timestamp("us", tz="UTC"),
    "tokens": pa.list_(pa.int32()),
    "token lists": pa.list_(pa.list_(pa.int32())),
    "matrix": pa.list_(pa.list_(pa.float32())),
    "slots": pa.list_(pa.struct({"slot": pa.string(), "text": pa.string()})),
    "edges": pa.list_(pa.struct([("i", pa.int32()), ("j", pa.int32()), ("weight", pa.float32())])),
    "quality": pa.struct([(name, pa.float32()) for name in QUALITY_SIGNALS]),
    "personal": pa.struct([(name, pa.int32()) for name in PERSONAL_DATA]),
}


def _meanings(members: Mapping[str, str]) -> str:
    return "; ".join(f"{name}, {meaning}" for name, meaning in members.items())


# what a description may name in braces: the members of a struct, each with its meaning
_MEANINGS = {"quality": _meanings(QUALITY_SIGNALS), "personal": _meanings(PERSONAL_DATA)}


def _columns(columns: Mapping[str, Any]) -> Iterator[pa.Field]:
    for name, column in columns.items():
        if isinstance(column, str):
            yield from _columns(DESCRIBED[column]["columns"])
        else:
            type_, doc = column
            arrow = _TYPES.get(type_) or pa.type_for_alias(type_)
            yield pa.field(name, arrow, metadata={"doc": doc.format_map(_MEANINGS)})


DATASETS = {
    name: Dataset(
        name=name,
        version=described["version"],
        schema=pa.schema(_columns(described["columns"])),
        unstable=frozenset(described.get("unstable", ())),
        **{place: described[place] for place in ("grouped_by", "reason", "blamed") if place in described},
    )
    for name, described in DESCRIBED.items()
    if "version" in described
}


def _dataset(name: str) -> Dataset:
    return DATASETS[name]


INTAKE = DATASETS["intake"]
ARTICLES = DATASETS["articles"]
SEARCH = DATASETS["search"]
CAPTURES = DATASETS["captures"]
INDEX_FILES = DATASETS["index_files"]
URL_LOOKUPS = DATASETS["url_lookups"]
FRONTIER = DATASETS["frontier"]
PAGES = DATASETS["pages"]
DOCUMENTS = DATASETS["documents"]
GIVEN = DATASETS["given"]
PARAGRAPHS = DATASETS["paragraphs"]
LEAD_NGRAMS = DATASETS["lead_ngrams"]
SKETCHES = DATASETS["sketches"]
TWINS = DATASETS["twins"]
TWIN_WORDS = DATASETS["twin_words"]
OVERLAPS = DATASETS["overlaps"]
FEATURES = DATASETS["features"]
VOCABULARY = DATASETS["vocabulary"]
RANKED = DATASETS["ranked"]
RANKING_SCORES = DATASETS["ranking_scores"]
GRAPHS = DATASETS["graphs"]
EXAMPLES = DATASETS["examples"]
PASSAGES = DATASETS["passages"]
PREDICTIONS = DATASETS["predictions"]
SCORES = DATASETS["scores"]
