"""The tables of a corpus that was built before, for benchmarks on real pages."""

import pyarrow as pa
import pyarrow.parquet as pq

from storage.builds import latest_build
from storage.store import Store


def latest_shards(root: str, stage: str) -> list[pa.Table]:
    """Return the shards of a stage of the latest build of a root.

    Raises SystemExit: it has none."""
    store = Store(root)
    build = latest_build(store)
    if build is None:
        raise SystemExit(f"{root}: no build; expected a corpus, see `benchmarks/paragraph_quality.py`")
    return [pq.read_table(store.path(path), filesystem=store.filesystem) for path in build.stages[stage].values()]
