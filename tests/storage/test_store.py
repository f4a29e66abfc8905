import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storage.errors import CorruptShardError, StorageError
from storage.recipes import ShardRecord, gather, read_parts, recipe_key, whole
from storage.schemas import DOCUMENTS, FEATURES, PAGES
from storage.store import Store

pytestmark = pytest.mark.integration

NAME = "features/part-00000.abc.parquet"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def run_python(script: str, root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, str(root)]
    return subprocess.run(command, check=False, cwd=Path(__file__).parents[2], capture_output=True, text=True)


def features(count: int) -> pa.Table:
    rows = [
        {"article_id": f"{i:016x}", "paragraph_id": i, "rouge2_recall": 0.5, "title_similarity": 0.25}
        for i in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=FEATURES.schema)


def documents(destinations: list[int]) -> pa.Table:
    rows = [
        {"article_id": f"{i:016x}", "article_shard": shard, "url": f"http://a/{i}", "provenance": "citation", "rank": 0}
        for i, shard in enumerate(destinations)
    ]
    return pa.Table.from_pylist(rows, schema=DOCUMENTS.schema)


def record_of(store: Store, table: pa.Table, shard: int) -> ShardRecord:
    key = recipe_key("documents", 1, {}, shard, {})
    record = ShardRecord("documents", shard, key, None, {}, {}, {}, 1, 0.0, 0)  # type: ignore[arg-type]
    written = store.write_table(record.path, table, DOCUMENTS)
    return ShardRecord("documents", shard, key, written, {}, {}, {}, 1, 0.0, 0)


def test_a_written_shard_reads_back_and_equal_tables_give_equal_bytes(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    written = store.write_table(NAME, features(3), FEATURES)
    assert (written.rows, written.bytes) == (3, (tmp_path / NAME).stat().st_size)
    assert store.read_table(NAME, written.sha256).equals(features(3))
    assert store.write_table("features/again.parquet", features(3), FEATURES) == written
    assert names(tmp_path / "features") == ["again.parquet", "part-00000.abc.parquet"]


def test_a_table_is_read_from_memory_of_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python's bytes a process that ended soon after a read was aborted now and then: a thread of Arrow let go of
    them while Python was ending."""
    store, held, reader = Store(str(tmp_path)), [], pa.BufferReader
    written = store.write_table(NAME, features(1000), FEATURES)
    before = pa.total_allocated_bytes()
    monkeypatch.setattr(pa, "BufferReader", lambda data: held.append(pa.total_allocated_bytes()) or reader(data))
    store.read_table(NAME, written.sha256)
    assert held[0] >= before + written.bytes


def test_batches_give_the_same_file_as_their_table(tmp_path: Path) -> None:
    store, table = Store(str(tmp_path)), features(1000)
    part = table.nbytes // 5
    written = store.write_table(NAME, table, FEATURES, group_bytes=part)
    assert (
        store.write_table(NAME, iter(table.to_batches(max_chunksize=300)), FEATURES, group_bytes=part).digest
        == written.digest
    )
    assert 5 <= pq.ParquetFile(tmp_path / NAME).num_row_groups <= 8
    batches = list(store.read_batches(NAME, store.write_table(NAME, table, FEATURES, group_bytes=part).sha256))
    assert len(batches) > 4
    assert pa.Table.from_batches(batches).equals(table)
    assert store.write_table(NAME, iter([]), FEATURES).rows == 0


def test_damage_is_noticed_before_the_first_batch(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    written = store.write_table(NAME, features(3), FEATURES)
    _damage(tmp_path / NAME, "flip")
    with pytest.raises(CorruptShardError, match="is damaged"):
        next(store.read_batches(NAME, written.sha256))


@pytest.mark.parametrize("damage", ["truncate", "flip", "delete"])
def test_a_damaged_shard_is_told_apart(tmp_path: Path, damage: str) -> None:
    store = Store(str(tmp_path))
    written = store.write_table(NAME, features(3), FEATURES)
    _damage(tmp_path / NAME, damage)
    with pytest.raises(CorruptShardError, match=r"part-00000\.abc\.parquet is damaged"):
        store.read_table(NAME, written.sha256)


@pytest.mark.parametrize("damage", ["truncate", "delete"])
def test_a_damaged_row_group_is_told_apart(tmp_path: Path, damage: str) -> None:
    store = Store(str(tmp_path))
    record = record_of(store, documents([0, 1]), 0)
    _damage(tmp_path / record.path, damage)
    with pytest.raises(CorruptShardError, match="is damaged"):
        gather([record], 0)[0].read(store)


def test_no_flipped_bit_changes_a_row_group_unnoticed(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    record = record_of(store, documents([0, 1]), 0)
    part, path = gather([record], 0)[0], tmp_path / record.path
    whole_file, table = path.read_bytes(), part.read(store)
    noticed = 0
    for place in range(0, len(whole_file), 7):
        data = bytearray(whole_file)
        data[place] ^= 1 << place % 8
        path.write_bytes(data)
        try:
            assert part.read(store).equals(table)
        except CorruptShardError:
            noticed += 1
    assert noticed > len(whole_file) // 70


def _damage(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "delete":
        path.unlink()
    elif how == "truncate":
        path.write_bytes(data[: len(data) // 2])
    else:
        data[10] ^= 1  # inside the first page of the first row group
        path.write_bytes(data)


def test_the_shuffle_brings_every_row_to_its_destination_once(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    records = [record_of(store, documents([2, 0, 2]), 0), record_of(store, documents([2, 1]), 1)]
    urls = {
        shard: read_parts(store, "documents", gather(records, shard)).column("url").to_pylist() for shard in range(4)
    }
    assert urls == {0: ["http://a/1"], 1: ["http://a/1"], 2: ["http://a/0", "http://a/2", "http://a/0"], 3: []}
    parquet = pq.ParquetFile(tmp_path / records[0].path)
    assert [parquet.metadata.row_group(i).num_rows for i in range(parquet.num_row_groups)] == [1, 2]


def test_small_parts_are_copied_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(str(tmp_path))
    parts = [whole(record_of(store, documents([shard, 7]), shard)) for shard in range(7)]
    apart = read_parts(store, "documents", parts)
    monkeypatch.setattr("storage.recipes._JOINED_BYTES", 3 * parts[0].read(store).nbytes)
    joined = read_parts(store, "documents", parts)
    assert joined.equals(apart)
    assert [len(chunk) for chunk in joined["url"].chunks] == [6, 6, 2]  # the last as it was read


def test_a_row_group_digest_changes_only_with_its_own_rows(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    before = record_of(store, documents([0, 1]), 0).written.groups
    changed = documents([0, 1]).set_column(2, DOCUMENTS.schema.field("url"), pa.array(["http://a/0", "http://b/"]))
    after = record_of(store, changed, 0).written.groups
    assert before[0].digest == after[0].digest
    assert before[1].digest != after[1].digest


def test_a_fetch_time_changes_the_file_and_not_the_digest(tmp_path: Path) -> None:
    store = Store(str(tmp_path))

    def fetched_at(microseconds: int) -> pa.Table:
        row = {"url": "http://a/", "host": "a", "fetched_at": microseconds, "attempts": 1, "bytes": 0}
        return pa.Table.from_pylist([row], schema=PAGES.schema)

    early, late = (store.write_table(f"pages/{t}.parquet", fetched_at(t), PAGES) for t in (1, 2))
    assert early.sha256 != late.sha256
    assert early.digest == late.digest


def test_an_empty_grouped_shard_is_a_file_without_row_groups(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    record = record_of(store, DOCUMENTS.schema.empty_table(), 0)
    assert record.written.groups == {}
    assert whole(record).read(store).num_rows == 0


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
def test_grouped_batches_make_the_file_that_their_table_makes(rows: int, tmp_path: Path) -> None:
    store, table = Store(str(tmp_path)), documents([0, 2, 2, 2, 3, 3, 9])
    whole = store.write_table("documents/whole.parquet", table, DOCUMENTS)
    in_batches = store.write_table("documents/batches.parquet", iter(table.to_batches(rows)), DOCUMENTS)
    assert in_batches == whole
    assert {there: group.rows for there, group in in_batches.groups.items()} == {0: 1, 2: 3, 3: 2, 9: 1}


def test_grouped_batches_in_another_order_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    batches = documents([0, 3, 2]).to_batches()
    with pytest.raises(ValueError, match="documents: article_shard 2 came after 3, expected rising values"):
        Store(str(tmp_path)).write_table("documents/part.parquet", iter(batches), DOCUMENTS)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_table_of_other_columns_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="stage features made columns"):
        Store(str(tmp_path)).write_table(NAME, pa.table({"x": [1]}), FEATURES)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_write_leaves_nothing_behind(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write_bytes("a/file", b"old")
    with pytest.raises(RuntimeError, match="broke"), store.writing("a/file") as sink:
        sink.write(b"new")
        raise RuntimeError("broke")
    assert store.read_bytes("a/file") == b"old"
    assert names(tmp_path / "a") == ["file"]


def test_a_full_device_is_named_and_nothing_half_written_stays(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the full disk; the kernel refuses the write in the same place."""
    script = (
        "import resource, signal, sys; from storage.store import Store\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "Store(sys.argv[1]).write_bytes('a/file', bytes(5000))\n"
    )
    done = run_python(script, tmp_path)
    assert "StorageFullError: no space left for" in done.stderr
    assert "nothing half-written was kept" in done.stderr
    assert names(tmp_path / "a") == []


def test_an_unwritable_root_is_named_before_work_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError, match=r"root '.*/file/below' cannot be written"):
        Store(str(tmp_path / "file" / "below")).check_writable()


def test_an_unknown_scheme_is_named() -> None:
    with pytest.raises(StorageError, match=r"root 'nfs2://x/y' cannot be opened"):
        Store("nfs2://x/y")


@pytest.mark.parametrize("root", ["s3:/bucket/x", "S3:bucket/x", "gs:/b", "file:/tmp/x", "nfs:/x"])
def test_a_folder_that_was_meant_as_a_uri_is_named(root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorageError, match=f"root is '{root}': expected two slashes in a URI such as s3://bucket"):
        Store(root)
    assert Store(f"./{root}").base == str(tmp_path / root)
    assert Store("run:3").base == str(tmp_path / "run:3")


def test_a_home_of_nobody_is_named() -> None:
    with pytest.raises(StorageError, match="root '~no-such-user/x' cannot be opened: Could not determine home"):
        Store("~no-such-user/x")


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.write_bytes("a/file", b"old")
    script = (
        "import os, sys; from storage.store import Store\n"
        "with Store(sys.argv[1]).writing('a/file') as sink:\n"
        "    sink.write(b'new'); sink.flush(); os.kill(os.getpid(), 9)\n"
    )
    done = run_python(script, tmp_path)
    assert done.returncode == -9
    assert store.read_bytes("a/file") == b"old"
    assert len(names(tmp_path / "a")) == 2
    store.write_bytes("a/file", b"newer")
    assert names(tmp_path / "a") == ["file"]
