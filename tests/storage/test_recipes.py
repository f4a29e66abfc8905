import json
from dataclasses import asdict, replace
from pathlib import Path

import cloudpickle
import pyarrow as pa
import pytest

from storage.errors import CorruptShardError
from storage.recipes import (
    TALLY,
    DropCount,
    ShardRecord,
    find_record,
    recipe_key,
    record_path,
    save_record,
    set_aside,
    shard_path,
    worst_of,
)
from storage.schemas import DATASETS, FEATURES, PAGES, PARAGRAPHS
from storage.sealed import seal
from storage.store import Store

KEY = recipe_key("features", 1, {"stem": False}, 0, {"articles": ["d1"]})


def saved(store: Store) -> ShardRecord:
    record = ShardRecord("features", 0, KEY, None, {"clone": 2}, {}, {}, 1, 0.5, 9, {"ner": "rules"})  # type: ignore[arg-type]
    table = pa.Table.from_pylist([{"article_id": "a", "paragraph_id": 0}], schema=FEATURES.schema)
    record = replace(record, written=store.write_table(record.path, table, FEATURES))
    save_record(store, record)
    return record


def found(store: Store) -> ShardRecord | None:
    return find_record(store, store.sizes("features"), "features", 0, KEY)


def test_the_key_follows_everything_a_shard_is_made_from() -> None:
    keys = {
        KEY,
        recipe_key("labels", 1, {"stem": False}, 0, {"articles": ["d1"]}),
        recipe_key("features", 2, {"stem": False}, 0, {"articles": ["d1"]}),
        recipe_key("features", 1, {"stem": True}, 0, {"articles": ["d1"]}),
        recipe_key("features", 1, {"stem": False}, 1, {"articles": ["d1"]}),
        recipe_key("features", 1, {"stem": False}, 0, {"articles": ["d2"]}),
        recipe_key("features", 1, {"stem": False}, 0, {"paragraphs": ["d1"]}),
    }
    assert len(keys) == 7
    assert recipe_key("s", 1, {"a": 1, "b": 2}, 0, {}) == recipe_key("s", 1, {"b": 2, "a": 1}, 0, {})


def test_a_record_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    record = saved(store)
    assert found(store) == record


@pytest.mark.parametrize("damage", ["no file", "short file", "no record", "half a record"])
def test_a_shard_is_done_only_if_file_and_record_agree(tmp_path: Path, damage: str) -> None:
    store = Store(str(tmp_path))
    record = saved(store)
    file, sidecar = tmp_path / record.path, tmp_path / record_path("features", 0, KEY)
    {
        "no file": file.unlink,
        "short file": lambda: file.write_bytes(file.read_bytes()[:-1]),
        "no record": sidecar.unlink,
        "half a record": lambda: sidecar.write_bytes(sidecar.read_bytes()[:40]),
    }[damage]()
    assert found(store) is None


def test_a_damaged_shard_set_aside_is_no_longer_done_and_stays_to_be_looked_at(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    record = saved(store)
    set_aside(store, CorruptShardError(record.path, "bit flip"))
    assert found(store) is None
    assert [name for name in store.sizes("features") if name.endswith(".damaged")]


def test_drops_are_counted_by_reason() -> None:
    rows = [{"article_id": "a", "drop_reason": reason} for reason in (None, "clone", "too_short", "clone", None)]
    table = pa.Table.from_pylist(rows, schema=PARAGRAPHS.schema)
    drops = DropCount(PARAGRAPHS)
    assert drops.table(table) is table
    assert pa.Table.from_batches(drops.batches(table.to_batches(max_chunksize=2))).equals(table)
    assert drops.by_reason() == {"clone": 4, "too_short": 2}
    unrefusing = DropCount(FEATURES)
    unrefusing.table(FEATURES.schema.empty_table())
    assert unrefusing.by_reason() == {}


def test_tallies_of_batches_are_added_up_and_never_written(tmp_path: Path) -> None:
    rows = pa.Table.from_pylist([{"article_id": "a"}] * 2, schema=PARAGRAPHS.schema)
    batches = [
        batch.replace_schema_metadata({TALLY: json.dumps(tally)})
        for batch, tally in zip(
            rows.to_batches(max_chunksize=1), [{"mended": 2}, {"mended": 3, "other": 1}], strict=True
        )
    ]
    drops, plain = DropCount(PARAGRAPHS), DropCount(PARAGRAPHS)
    store = Store(str(tmp_path))
    written = store.write_table("a.parquet", drops.batches(batches), PARAGRAPHS)
    assert written == store.write_table("b.parquet", plain.table(rows), PARAGRAPHS)
    assert drops.tally() == {"mended": 5, "other": 1}
    assert plain.tally() == {}


def test_every_column_of_every_dataset_is_documented() -> None:
    for dataset in DATASETS.values():
        for column in dataset.schema:
            assert column.metadata[b"doc"], f"{dataset.name}.{column.name}"


def pages(*rows: tuple[str, str | None]) -> pa.Table:
    return pa.Table.from_pylist([{"host": host, "reason": reason} for host, reason in rows], schema=PAGES.schema)


def test_the_hosts_with_the_most_refused_pages_are_named_with_their_reasons() -> None:
    drops = DropCount(PAGES)
    first = pages(("a.example", None), ("b.example", "timeout"), ("b.example", "http_404"), ("c.example", "timeout"))
    second = pages(("b.example", "timeout"), ("b.example", None), ("c.example", None))

    passed = list(drops.batches([*first.to_batches(), *second.to_batches()]))

    assert sum(batch.num_rows for batch in passed) == 7
    assert list(drops.worst().items()) == [
        ("b.example", {"rows": 4, "drops": {"http_404": 1, "timeout": 2}}),
        ("c.example", {"rows": 2, "drops": {"timeout": 1}}),
    ]
    assert drops.by_reason() == {"timeout": 3, "http_404": 1}


def test_no_more_than_twenty_are_named_and_equals_go_by_name() -> None:
    drops = DropCount(PAGES)
    drops.table(pages(*[(f"h{number:02d}.example", "timeout") for number in range(30, 0, -1)]))

    assert list(drops.worst()) == [f"h{number:02d}.example" for number in range(1, 21)]


def test_the_worst_of_all_shards_are_among_the_worst_of_each() -> None:
    def shard(first: int) -> dict[str, dict[str, object]]:
        drops = DropCount(PAGES)
        rows = [(f"h{number:03d}.example", "timeout") for number in range(first, 100, 2) for _ in range(number)]
        drops.table(pages(*rows))
        return dict(drops.worst())  # type: ignore[arg-type]

    assert list(worst_of({**shard(0), **shard(1)})) == [f"h{number:03d}.example" for number in range(99, 79, -1)]


def test_a_dataset_that_blames_nobody_names_nobody() -> None:
    drops = DropCount(PARAGRAPHS)
    drops.table(pa.Table.from_pylist([{"drop_reason": "clone"}], schema=PARAGRAPHS.schema))

    assert drops.worst() == {}


def test_a_record_keeps_the_worst(tmp_path: Path) -> None:
    record = replace(saved(Store(str(tmp_path))), worst={"b.example": {"rows": 4, "drops": {"timeout": 2}}})
    assert ShardRecord.from_json(seal(asdict(record))) == record


def test_a_field_of_a_newer_version_is_no_reason_to_forget_a_shard(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    record = saved(store)
    fields = {**asdict(record), "watts": 7}
    fields["written"]["colour"] = "red"
    store.write_bytes(record_path("features", 0, KEY), seal(fields))
    assert found(store) == record


def test_a_shard_copied_under_another_name_is_not_that_shard(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = Store(str(tmp_path))
    record = saved(store)
    for shard, key in ((1, KEY), (0, "f" * 16)):
        store.write_bytes(shard_path("features", shard, key), store.read_bytes(record.path))
        store.write_bytes(record_path("features", shard, key), seal(asdict(record)))
        assert find_record(store, store.sizes("features"), "features", shard, key) is None
        assert f"it is the record of {record.path}" in caplog.text
    assert found(store) == record


def test_a_dataset_is_pickled_by_its_name() -> None:
    """Each job has its dataset, on threads as well."""
    for dataset in DATASETS.values():
        assert cloudpickle.loads(cloudpickle.dumps(dataset)) is dataset
        assert len(cloudpickle.dumps(dataset)) < 100
