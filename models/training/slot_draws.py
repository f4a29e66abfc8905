"""Other slots for the values of an example in each epoch, so that no slot is learned by heart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True)
class SlotDraws:
    """Redraws the slots of examples within their pools; the token ids of all pools follow each other."""

    pools: Sequence[Sequence[int]]  # token ids of each kind of slots
    seed: int

    def __call__(self, rows: pa.Table, epoch: int, shard: int) -> pa.Table:
        """Return the rows of a shard with the slots of an epoch."""
        rng = np.random.default_rng((self.seed, epoch, shard))
        first = self.pools[0][0]
        drawn = np.concatenate(
            [np.argsort(rng.random((len(rows), len(pool))), axis=1) + pool[0] for pool in self.pools], axis=1
        )
        for name in ("title", "source", "target"):
            column = rows.column(name).combine_chunks()
            lists, row_of = column, np.arange(len(column))
            nesting = []
            while pa.types.is_list(lists.type):
                offsets = lists.offsets.to_numpy() - lists.offsets[0].as_py()
                row_of = np.repeat(row_of, np.diff(offsets))
                nesting.append(offsets)
                lists = lists.flatten()
            ids = lists.to_numpy(zero_copy_only=False).copy()
            places = np.flatnonzero(ids >= first)
            ids[places] = drawn[row_of[places], ids[places] - first]
            array = pa.array(ids, lists.type)
            for offsets in reversed(nesting):
                array = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), array)
            rows = rows.set_column(rows.column_names.index(name), name, array.cast(column.type))
        return rows
