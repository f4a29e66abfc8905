"""The Parquet files of a group of shards, one per split, written side by side: a shard is read once."""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage.row_groups import by_size
from storage.schemas import Dataset
from storage.writing import HashingSink
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
