"""What a thousand shards add: a shard's reader opens every file of a stage for one row group of each.

The executed part has two shards, so that nobody opens a thousand files there. This writes files with a row group for
each of so many readers, with a few short rows in each, and one reader gathers its own. Opening a file, reading its
footer and finding the row group cost the same with many rows; the executed part measures the reading of rows."""

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from storage.recipes import ShardRecord, gather, read_parts, shard_path
from storage.schemas import DOCUMENTS, FRONTIER, Dataset
from storage.store import Store

FILES = 20  # opened for the measurement; the cost of a file does not depend on the others
_ROWS = 3  # of a row group

# Dataset -> stages of which each shard gathers it (`flows.dag`).
READERS = {FRONTIER: ("pages", "documents"), DOCUMENTS: ("paragraphs",)}


def measure(shards: int) -> dict[str, Any]:
    """Return processor seconds of opening one file, by dataset, and bytes of its footer."""
    with tempfile.TemporaryDirectory() as folder:
        return {dataset.name: _measure(Store(folder), dataset, shards) for dataset in READERS}


def _measure(store: Store, dataset: Dataset, shards: int) -> dict[str, float]:
    first = _written(store, dataset, shards)
    records = [replace(first, shard=shard) for shard in range(FILES)]
    for record in records[1:]:
        os.link(store.path(first.path), store.path(record.path))
    used = time.process_time()
    rows = read_parts(store, dataset.name, gather(records, shards // 2))
    seconds = (time.process_time() - used) / FILES
    assert rows.num_rows == FILES * _ROWS
    with pq.ParquetFile(store.path(first.path)) as file:
        return {"seconds_a_file": seconds, "footer_bytes": file.metadata.serialized_size}


def _written(store: Store, dataset: Dataset, shards: int) -> ShardRecord:
    """Write a file with a row group for each reader."""
    by = dataset.grouped_by
    assert by is not None
    base = {"article_id": "0" * 16, "url": "http://www.site.com/", "host": "www.site.com", "paragraphs": ["A text."]}
    rows = [
        {name: value for name, value in {**base, by: shard}.items() if name in dataset.schema.names}
        for shard in range(shards)
        for _ in range(_ROWS)
    ]
    Path(store.path(dataset.name)).mkdir(parents=True)
    path = shard_path(dataset.name, 0, "rehearsal")
    written = store.write_table(path, pa.Table.from_pylist(rows, schema=dataset.schema), dataset)
    return ShardRecord(dataset.name, 0, "rehearsal", written, {}, {}, {}, dataset.version, 0.0, 0)
