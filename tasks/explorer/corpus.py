"""A corpus to look into: opened by its manifest alone. Lists are read in the background, shard by shard, into tables of
DuckDB, which answers at once from what was read so far. An article is read from its files, column by column, and only
from row groups whose statistics allow it. Digests are not checked, which would read whole files: `flows.verify` does
that."""

import logging
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Literal

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.csv import CSVWriter

from storage.builds import latest_build
from storage.errors import StorageError
from storage.registry import FOLDER
from storage.root import check_root
from storage.store import Store
from tasks.engine.data_files import read_data
from tasks.explorer.sql import CLOSED, SqlResult, run_query

_COUNTED = 60  # number of shown values of a filter, those with the most rows
_BARS = 12  # of a histogram, about
_BATCH = 50_000  # rows of a download that are held at once
FORMULA = r"^[=+\-@\t\r]"  # first characters that make a spreadsheet run a cell
_WAIT_SECONDS = 1.0  # how long an answer waits for shards that are not read yet
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Kind:
    """Rows that are listed (`kinds.toml`)."""

    stages: Sequence[str]
    read: Sequence[str]
    columns: Mapping[str, str]
    filters: Sequence[str]
    text: str
    numbers: Sequence[str] = ()
    most: int = 5_000_000


KINDS: Mapping[str, Kind] = {name: Kind(**kind) for name, kind in read_data("tasks.explorer", "kinds.toml").items()}


@dataclass(frozen=True)
class CorpusQuery:
    """What is asked for: rows of a kind, those from `start` on."""

    kind: str = "articles"
    text: str = ""  # in any case; "" = every row
    chosen: Mapping[str, str] = field(default_factory=dict)  # filter -> value
    # number -> its bounds: at least the first, below the second; None = no bound
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    order: str = ""  # column shown, after a "-" from the highest; "" = as they were read
    start: int = 0
    count: int = 50


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram: how many rows have a number of at least `low` and below `high`; None = no bound."""

    low: float
    high: float | None
    rows: int


@dataclass(frozen=True)
class Listing:
    """The answer, of the shards that were read so far."""

    rows: Sequence[Mapping[str, Any]]  # shard, article_id and article (its title) of each, and the columns shown
    matches: int  # rows that match
    counts: Mapping[str, Sequence[tuple[str, int]]]  # of each filter, its values under the other filters
    bars: Mapping[str, Sequence[Bar]]  # of each number, its distribution under the other filters
    read: int  # shards read
    shards: int


class ExplorerCorpus:
    """The latest build below a root."""

    def __init__(self, store: Store) -> None:
        """Begin to read articles. Raises StorageError: the root has no build with articles."""
        check_root(store)
        build = latest_build(store)
        if build is None or not build.stages.get("articles"):
            raise StorageError(f"{store.root!r} has no build with articles: expected the root of a finished build")
        self.store, self.build = store, build
        self._tables = duckdb.connect(config={"threads": 2, **CLOSED})
        self._readers: dict[str, _Reader] = {}
        self._starting = threading.Lock()
        self._reader("articles")

    @classmethod
    def beside(cls, model: str) -> "ExplorerCorpus | None":
        """Return the corpus of a model's root or registry, or None if there is none."""
        try:
            return cls(Store(model.rstrip("/").removesuffix(f"/{FOLDER}")))
        except StorageError:
            return None

    @property
    def kinds(self) -> list[str]:
        """The kinds of rows that the build has."""
        return [name for name, kind in KINDS.items() if any(stage in self.build.stages for stage in kind.stages)]

    def find(self, asked: CorpusQuery) -> Listing:
        """Return rows. Raises StorageError: the build has no such rows or column."""
        kind, reader = self._checked(asked)
        reader.join(_WAIT_SECONDS)
        tables, (where, given) = self._tables.cursor(), _where(kind, asked)
        (matches,) = tables.execute(f"SELECT count(*) FROM {asked.kind} WHERE {where}", given).fetchone() or (0,)
        result = tables.execute(*_selected(kind, asked, f"LIMIT {asked.count} OFFSET {asked.start}"))
        names = [column[0] for column in result.description]
        rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
        counts = {}
        for name in kind.filters:
            where, given = _where(kind, asked, without=name)
            counted = f"SELECT {name}, count(*) FROM {asked.kind} WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"
            counts[name] = tables.execute(counted, [*given, _COUNTED]).fetchall()
        bars = {name: _bars(tables, asked.kind, name, *_where(kind, asked, without=name)) for name in kind.numbers}
        return Listing(rows, matches, counts, bars, reader.read, reader.shards)

    def write(self, asked: CorpusQuery, file: IO[bytes], form: Literal["csv", "parquet"]) -> None:
        """Write every row of a query once all shards are read: as CSV that is safe for spreadsheets, or as Parquet.
        Raises StorageError: as `find`."""
        kind, reader = self._checked(asked)
        reader.join()
        self.wait("articles")  # whose titles are in every row
        query, given = _selected(kind, asked)
        batches = self._tables.cursor().sql(query, params=given).to_arrow_reader(_BATCH)
        if form == "parquet":
            with pq.ParquetWriter(file, batches.schema, compression="zstd") as parquet:
                for batch in batches:
                    parquet.write_batch(batch)
            return
        file.write("\ufeff".encode())  # by which spreadsheets know the encoding
        with CSVWriter(file, batches.schema) as table:
            for batch in batches:
                table.write_batch(_inert(batch))

    def query(self, query: str) -> SqlResult:
        """Return the result of an SQL query over the rows of the lists that were read so far; the lists that it names
        are read from now on. Raises ValueError: as `run_query`."""
        named = [self._reader(kind) for kind in self.kinds if kind in query.lower()]
        for reader in named:
            reader.join(_WAIT_SECONDS)
        return run_query(self._tables, query)

    def unread(self, query: str) -> Sequence[str]:
        """Return the lists that a query names and that are not read to their end."""
        return [kind for kind in self.kinds if kind in query.lower() and self._reader(kind).is_alive()]

    def _checked(self, asked: CorpusQuery) -> "tuple[Kind, _Reader]":
        """Return the kind and the reader of a query, after checking its columns."""
        if asked.kind not in self.kinds:
            raise StorageError(f"build {self.build.name} has no {asked.kind!r}: expected {', '.join(self.kinds)}")
        kind = KINDS[asked.kind]
        for column in [*asked.chosen, *asked.bounds, *filter(None, [asked.order.removeprefix("-")])]:
            if column not in kind.columns:
                raise StorageError(f"{asked.kind} have no {column!r}: expected {', '.join(kind.columns)}")
        return kind, self._reader(asked.kind)

    def report(self) -> str:
        """Return the page of the build's report. Raises StorageError: it has none, or it cannot be read."""
        if self.build.report is None:
            raise StorageError(f"build {self.build.name} has no report")
        try:
            return self.store.read_bytes(f"{self.build.report}/report.html").decode()
        except OSError as error:
            raise StorageError(f"the report of build {self.build.name} cannot be read: {error}") from error

    def wait(self, kind: str = "articles") -> None:
        """Wait until all rows of a kind are read."""
        self._reader(kind).join()

    def has(self, stage: str) -> bool:
        """Whether the build has a stage."""
        return stage in self.build.stages

    def rows(
        self, stage: str, shard: int, columns: Sequence[str], filters: Sequence[tuple[str, str, Any]] | None
    ) -> pa.Table:
        """Return rows of a shard by filters (column, operator, value); a column that an older version did not write is
        null. Raises StorageError: the shard cannot be read."""
        path = self.build.stages.get(stage, {}).get(str(shard))
        if path is None:
            raise StorageError(f"build {self.build.name} has no shard {shard} of {stage}")
        try:
            file, filesystem = self.store.path(path), self.store.filesystem
            written = pq.read_schema(file, filesystem=filesystem).names
            table = pq.read_table(
                file,
                filesystem=filesystem,
                columns=[column for column in columns if column in written],
                filters=None if filters is None else list(filters),
                use_threads=filters is not None,
            )
            for column in columns:
                if column not in written:
                    table = table.append_column(column, pa.nulls(table.num_rows))
            return table
        except (OSError, pa.ArrowException) as error:
            raise StorageError(f"{path} below {self.store.root} cannot be read: {error}") from error

    def _reader(self, kind: str) -> "_Reader":
        with self._starting:
            if kind not in self._readers:
                self._readers[kind] = _Reader(self, kind, self._tables.cursor())
                self._readers[kind].start()
            return self._readers[kind]


class _Reader(threading.Thread):
    """Reads the rows of a kind into its table, shard by shard."""

    def __init__(self, corpus: ExplorerCorpus, name: str, tables: duckdb.DuckDBPyConnection) -> None:
        super().__init__(name=f"reads {name}", daemon=True)
        self.corpus, self.kind, self.tables, self.table = corpus, KINDS[name], tables, name
        stages = [stage for stage in self.kind.stages if corpus.has(stage)]
        if name == "paragraphs":
            del stages[1:]  # the compared ones are the same, refused also by others
        self.parts = [(stage, int(shard)) for stage in stages for shard in corpus.build.stages[stage]]
        self.shards, self.read = len(self.parts), 0
        self.columns = ["article_id", *self.kind.read]
        nothing = pa.schema([(column, _TYPES.get(column, pa.string())) for column in self.columns]).empty_table()
        self._insert(nothing, 0, f"CREATE TABLE {name} AS")

    def run(self) -> None:
        """Read until all is read, or the limit is reached."""
        rows = 0
        for stage, shard in self.parts:
            try:
                part = self.corpus.rows(stage, shard, self.columns, None)
            except StorageError as error:
                _log.warning("%s: its rows are not listed", error)
            else:
                self._insert(part.slice(0, self.kind.most - rows), shard, f"INSERT INTO {self.table}")
                rows += part.num_rows
            self.read += 1
            if rows >= self.kind.most:
                break
        self.tables.close()

    def _insert(self, part: pa.Table, shard: int, into: str) -> None:
        place = "article_shard" if "article_shard" in self.kind.read else str(shard)
        shown = ", ".join(f"{sql} AS {name}" for name, sql in self.kind.columns.items())
        self.tables.register("part", part)
        self.tables.execute(f"{into} SELECT {place} AS shard, article_id, {shown} FROM part")
        self.tables.unregister("part")


_TYPES = {"article_shard": pa.int32(), "rank": pa.int32(), "score": pa.float32(), "value": pa.float32()}


def _selected(kind: Kind, asked: CorpusQuery, part: str = "") -> tuple[str, list[Any]]:
    """Return the rows of a query in its order, or a part of them, as SQL and its values."""
    where, given = _where(kind, asked)
    column, way = asked.order.removeprefix("-"), "DESC" if asked.order.startswith("-") else "ASC"
    first, last = (f"{column} {way}, rowid", f"found.{column} {way}, place") if column else ("rowid", "place")
    return (
        f"WITH found AS (SELECT *, rowid AS place FROM {asked.kind} WHERE {where} ORDER BY {first} {part}) "
        "SELECT found.* EXCLUDE (place), articles.title AS article FROM found "
        f"LEFT JOIN articles ON articles.article_id = found.article_id ORDER BY {last}",
        given,
    )


def _where(kind: Kind, asked: CorpusQuery, without: str = "") -> tuple[str, list[Any]]:
    """Return the condition of a query, without one column, as SQL and its values."""
    conditions: list[tuple[str, Any]] = [
        (f"{name} = ?", value) for name, value in asked.chosen.items() if value and name != without
    ]
    if asked.text.strip():
        conditions.append((f"contains(lower({kind.text}), lower(?))", asked.text.strip()))
    for name, (least, below) in asked.bounds.items():
        ends = ((f"{name} >= ?", least), (f"{name} < ?", below))
        conditions += [(condition, end) for condition, end in ends if end is not None and name != without]
    return " AND ".join(["true", *(condition for condition, _ in conditions)]), [value for _, value in conditions]


def _bars(tables: duckdb.DuckDBPyConnection, table: str, name: str, where: str, given: Sequence[Any]) -> Sequence[Bar]:
    """Return the distribution of a number. The last bar has also the largest 1 %, which would squeeze all others."""
    these = f"FROM {table} WHERE isfinite({name}::DOUBLE) AND {where}"
    ends = f"SELECT min({name}), quantile_cont({name}, 0.99), max({name}) {these}"
    least, top, most = tables.execute(ends, given).fetchone() or (None, None, None)
    if least is None:
        return ()
    width = _width((top - least) / _BARS, whole=isinstance(most, int))
    edges = [round(number * width, 10) for number in range(math.floor(least / width), math.floor(top / width) + 2)]
    # Compared with the edges, as the bounds of a query are: a quotient may be rounded into the next bar.
    place = " + ".join(f"({name} >= ?)::INTEGER" for _ in edges[1:-1]) or "0"
    counted = f"SELECT {place}, count(*) {these} GROUP BY 1"
    rows: dict[int, int] = dict(tables.execute(counted, [*edges[1:-1], *given]).fetchall())
    highs = [*edges[1:-1], None if most >= edges[-1] else edges[-1]]
    return [Bar(low, high, rows.get(number, 0)) for number, (low, high) in enumerate(zip(edges, highs, strict=False))]


def _width(least: float, *, whole: bool) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, 50 ... and their tenths that is at least as wide; `whole`: no tenths."""
    if least <= 0:
        return 1.0 if whole else 0.1
    power = 10.0 ** math.floor(math.log10(least))
    width = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
    return max(width, 1.0) if whole else width


def _inert(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return rows whose texts a spreadsheet only shows."""
    columns = [
        pc.if_else(pc.match_substring_regex(column, FORMULA), pc.binary_join_element_wise("'", column, ""), column)
        if pa.types.is_string(column.type)
        else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, names=batch.schema.names)
