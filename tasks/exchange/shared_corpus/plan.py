"""The files of a shared corpus, planned before any is written (which shards go into which, how large, how long), and
written."""

import io
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage.schemas import Dataset
from storage.tables import by_size
from storage.writing import HashingSink
from tasks.engine.recipe import StageResult
from tasks.exchange.shared_corpus.columns import SPLITS
from tasks.exchange.shared_corpus.shards import CorpusShards
from tasks.exchange.shared_corpus.statistics import Counts


class SplitFiles:
    """Open files, one per split. On exit they are completed; `written` and `counts` then say what they hold.

    Attributes:
        counts: split -> counts of its rows.
        written: split -> its `rows`, `bytes` and `sha256`."""

    def __init__(self, sinks: Mapping[str, IO[bytes]], dataset: Dataset) -> None:
        self.counts = {split: Counts() for split in sinks}
        self.written: dict[str, dict[str, Any]] = {}
        self._dataset = dataset
        self._hashing = {split: HashingSink(sink) for split, sink in sinks.items()}
        self._writers = {
            split: pq.ParquetWriter(pa.PythonFile(sink, "w"), dataset.schema, compression="zstd")
            for split, sink in self._hashing.items()
        }

    def add(self, batches: Iterable[tuple[str, list[dict[str, Any]]]]) -> None:
        """Write the rows of a shard, whose splits follow one another; each split ends a row group."""
        gathered: dict[str, list[pa.RecordBatch]] = {}
        for split, rows in batches:
            self.counts[split].add(rows)
            batch = pa.RecordBatch.from_pylist(rows, schema=self._dataset.schema)
            gathered.setdefault(split, []).append(batch)
        for split, some in gathered.items():
            for piece in by_size(some, self._dataset):
                if piece.num_rows:
                    self._writers[split].write_table(piece, row_group_size=piece.num_rows)

    def __enter__(self) -> "SplitFiles":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for split, writer in self._writers.items():
            writer.close()
            sink = self._hashing[split]
            self.written[split] = {
                "rows": self.counts[split].articles,
                "bytes": sink.bytes,
                "sha256": sink.digest.hexdigest(),
            }


GROUP_BYTES = 256 << 20  # of shards that are written to the same files: hubs advise files of some hundred MB


@dataclass(frozen=True)
class FileGroup:
    """Consecutive shards and the files they are written to."""

    number: int  # 0, 1, ...
    shards: Sequence[int]  # their numbers
    files: Mapping[str, str]  # split -> file; a split of which the shards have no article has none


@dataclass(frozen=True)
class Plan:
    """What will be written."""

    groups: Sequence[FileGroup]  # in order
    articles: Mapping[str, int]  # split -> articles
    bytes: int  # estimate for all files, from the first shard that has articles
    seconds: float  # likewise

    def __str__(self) -> str:
        files = {split: sum(split in group.files for group in self.groups) for split in self.articles}
        splits = ", ".join(f"{split} {count:,} (files: {files[split]})" for split, count in self.articles.items())
        size = f"about {self.bytes / 1e6:,.1f} MB"
        # Reading a first file takes seconds by itself, so for a small corpus the estimate would be far too high.
        time = f"about {self.seconds / 60:,.0f} min" if self.seconds >= 90 else "a minute at most"
        return f"{sum(self.articles.values()):,} articles: {splits}; {size}, {time}"


def plan_files(shards: CorpusShards, group_bytes: int = GROUP_BYTES) -> Plan:
    """Return the files to write. Reads the splits of all articles, and of one shard everything. Raises ValueError: no
    article can be exported; CorruptShardError: a file is gone, cut short or changed."""
    counts = {shard: shards.splits(shard) for shard in shards.stages["articles"].shards}
    first = next((shard for shard, splits in counts.items() if sum(splits.values())), None)
    if first is None:
        raise ValueError("the build has no article that was not refused: there is nothing to export")
    groups = _grouped(list(counts), shards.stages, group_bytes)
    used = [{split for shard in group for split, count in counts[shard].items() if count} for group in groups]
    totals = {split: sum(split in splits for splits in used) for split in SPLITS.values()}
    numbers = dict.fromkeys(totals, 0)
    planned = []
    for number, (group, splits) in enumerate(zip(groups, used, strict=True)):
        files = {}
        for split in totals:
            if split in splits:
                files[split] = f"data/{split}-{numbers[split]:05d}-of-{totals[split]:05d}.parquet"
                numbers[split] += 1
        planned.append(FileGroup(number, group, files))
    articles = {split: sum(splits[split] for splits in counts.values()) for split in totals}
    size, seconds = _measured(shards, first)
    share = sum(articles.values()) / sum(counts[first].values())
    return Plan(planned, articles, round(size * share), seconds * share)


def _grouped(shards: Sequence[int], stages: Mapping[str, StageResult], most: int) -> list[list[int]]:
    """Return runs of shards of about `most` stored bytes each."""
    groups: list[list[int]] = []
    total = 0
    for shard in shards:
        size = sum(
            stages[stage].records[shard].written.bytes
            for stage in ("articles", "paragraphs", "features", "ranked", "graphs")
            if stage in stages
        )
        if not groups or total + size > most:
            groups.append([])
            total = 0
        groups[-1].append(shard)
        total += size
    return groups


def _measured(shards: CorpusShards, shard: int) -> tuple[int, float]:
    """Return the bytes and seconds of writing a shard to memory."""
    started = time.monotonic()
    with SplitFiles({split: io.BytesIO() for split in SPLITS.values()}, shards.dataset) as files:
        files.add(shards.batches(shard))
    return sum(file["bytes"] for file in files.written.values()), time.monotonic() - started
