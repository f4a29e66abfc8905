"""Slots of examples, drawn anew in each epoch."""

from itertools import chain

import numpy as np
import pyarrow as pa

from models.value_slots import SlotDraws
from storage.schemas import EXAMPLES

POOLS = [[50, 51, 52, 53, 54, 55, 56], [57, 58, 59, 60, 61]]  # names, and years
ROWS = [
    {"title": [48, 7], "source": [[50, 3, 57], [], [51, 50]], "target": [2, 50, 9, 57, 61, 3], "slots": []},
    {"title": [50], "source": [[]], "target": [2, 50, 51, 3], "slots": []},
]


def table() -> pa.Table:
    return pa.Table.from_pylist(ROWS, schema=EXAMPLES.schema)


def redrawn(epoch: int, shard: int = 0, *, rows: pa.Table | None = None) -> list[dict[str, list[int]]]:
    rows = table() if rows is None else rows
    found = SlotDraws(POOLS, seed=1)(rows, epoch, shard)
    assert found.schema == rows.schema
    return found.to_pylist()


def pairs(before: dict[str, list[int]], after: dict[str, list[int]]) -> set[tuple[int, int]]:
    """Return (token, what it became) of an example."""
    flat = [[*row["title"], *chain(*row["source"]), *row["target"]] for row in (before, after)]
    return set(zip(*flat, strict=True))


def test_a_value_has_the_same_other_slot_everywhere_in_its_example() -> None:
    for before, after in zip(ROWS, redrawn(0), strict=True):
        assert [len(paragraph) for paragraph in after["source"]] == [len(paragraph) for paragraph in before["source"]]
        became = pairs(before, after)
        assert len(became) == len({token for token, _ in became}) == len({token for _, token in became})
        assert all(token == new for token, new in became if token < 50)
        for pool in POOLS:
            assert all(new in pool for token, new in became if token in pool)


def test_each_epoch_shard_and_example_has_its_own_and_the_same_again() -> None:
    first = redrawn(0)
    assert first == redrawn(0)
    assert first != redrawn(1)
    assert first != redrawn(0, 1)
    twice = pa.concat_tables([table().slice(0, 1)] * 2)
    one, other = redrawn(0, rows=twice)
    assert one != other


def test_part_of_a_table_is_drawn_as_well() -> None:
    rows = pa.concat_tables([table(), table()]).combine_chunks().slice(1, 2)
    one, other = redrawn(0, rows=rows)
    assert len(one["target"]) == len(ROWS[1]["target"])
    assert [len(paragraph) for paragraph in other["source"]] == [3, 0, 2]
    assert np.all(np.array(other["target"])[[0, 2, 5]] == [2, 9, 3])
