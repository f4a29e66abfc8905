"""What each kind of input brings to a shard's key, and what its job is given to load."""

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from storage.directories import publish_directory, working_directory
from storage.errors import CorruptShardError
from storage.recipes import ShardRecord, shard_path
from storage.schemas import ARTICLES, DATASETS, INTAKE
from storage.store import Store
from tasks.engine.recipe import DirectoryResult, StageResult, contents, every, gathered, only, same


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def result(store: Store, stage: str, names: list[list[str]], done: int | None = None) -> StageResult:
    """A stage whose shard i holds these articles; `done` leaves out the later shards."""
    records = {}
    dataset = DATASETS[stage]
    for shard, titles in enumerate(names[:done]):
        rows = [{"article_id": f"{title}-id", "title": title, "article_shard": int(title[-1])} for title in titles]
        columns = [{name: row[name] for name in row if name in dataset.schema.names} for row in rows]
        table = pa.Table.from_pylist(columns, schema=dataset.schema)
        written = store.write_table(shard_path(stage, shard, "k"), table, dataset)
        records[shard] = ShardRecord(
            stage=stage,
            shard=shard,
            key="k",
            written=written,
            drops={},
            inputs={},
            settings={},
            version=1,
            seconds=0.0,
            peak_bytes=0,
        )
    return StageResult(stage, range(len(names)), records)


def titles(table: pa.Table) -> list[str]:
    return table.column("title").to_pylist()


def test_the_shard_of_the_same_number(store: Store) -> None:
    stage = result(store, ARTICLES.name, [["a0"], ["b0", "b1"], ["c0"]], done=2)
    assert [same(stage).digests(shard) for shard in range(3)] == [
        [stage.records[0].written.digest],
        [stage.records[1].written.digest],
        None,
    ]
    assert titles(same(stage).loading(1)(store)) == ["b0", "b1"]


def test_its_batches(store: Store) -> None:
    stage = result(store, ARTICLES.name, [["a0"], ["b0", "b1"], ["c0"]], done=2)
    source = same(stage, batches=True)
    assert [source.digests(shard) for shard in range(3)] == [same(stage).digests(shard) for shard in range(3)]
    batches = list(source.loading(1)(store))
    assert [title for batch in batches for title in batch.column("title").to_pylist()] == ["b0", "b1"]
    store.write_bytes(stage.records[1].path, b"cut short")
    with pytest.raises(CorruptShardError):
        next(iter(source.loading(1)(store)))


def test_the_only_shard_whoever_asks(store: Store) -> None:
    stage = result(store, ARTICLES.name, [["a0", "a1"]])
    for shard in (0, 3):
        assert only(stage).digests(shard) == [stage.records[0].written.digest]
        assert titles(only(stage).loading(shard)(store)) == ["a0", "a1"]
    assert only(result(store, ARTICLES.name, [["a0"]], done=0)).digests(3) is None


def test_row_groups_of_every_shard(store: Store) -> None:
    stage = result(store, INTAKE.name, [["a0", "a1"], ["b1", "b2"]])
    assert [len(gathered(stage).digests(shard) or []) for shard in range(4)] == [1, 2, 1, 0]
    assert [titles(gathered(stage).loading(shard)(store)) for shard in range(4)] == [["a0"], ["a1", "b1"], ["b2"], []]
    assert gathered(result(store, INTAKE.name, [["a0"], ["b0"]], done=1)).digests(0) is None


def test_row_groups_of_several_stages(store: Store) -> None:
    first = result(store, INTAKE.name, [["a0", "a1"], ["b1"]])
    second = result(store, INTAKE.name, [["a0", "a1"], ["b1"], ["c1"]])
    both = gathered(first, second)
    assert both.results == (first, second)
    assert both.digests(1) == [*(gathered(first).digests(1) or []), *(gathered(second).digests(1) or [])]
    assert titles(both.loading(1)(store)) == ["a1", "b1", "a1", "b1", "c1"]
    assert gathered(first, result(store, INTAKE.name, [["a0", "a1"]], done=0)).digests(0) is None


def test_every_shard_of_several_stages(store: Store) -> None:
    first = result(store, INTAKE.name, [["a0"], ["b0"]])
    second = result(store, ARTICLES.name, [["c0"], ["d0", "d1"]])
    source = every(first, second)
    assert source.digests(1) == [stage.records[shard].written.digest for stage in (first, second) for shard in (0, 1)]
    loaded = source.loading(1)(store)
    assert len(loaded) == 2
    assert [[titles(table) for table in tables] for tables in loaded] == [[["a0"], ["c0"]], [["b0"], ["d0", "d1"]]]
    assert [titles(table) for table in loaded.read(1)] == [["b0"], ["d0", "d1"]]
    half = result(store, ARTICLES.name, [["c0"], ["d0"]], done=1)
    assert not half.complete
    assert every(first, half).digests(0) is None
    with pytest.raises(AssertionError, match="articles is not complete"):
        _ = half.in_order


def test_a_directory(store: Store) -> None:
    folder = working_directory(store, "models/ranker", "k")
    (folder / "weights").write_text("w")
    record = publish_directory(
        store,
        folder,
        name="models/ranker",
        key="k",
        published=["weights"],
        settings={},
        inputs={},
        metrics={},
        seconds=0.0,
    )
    source = contents(DirectoryResult("models/ranker", record))
    assert source.digests(5) == [record.digest]
    assert (source.loading(5)(store) / "weights").read_text() == "w"
    assert contents(DirectoryResult("models/ranker", None)).digests(0) is None


def test_an_input_names_what_it_reads_and_its_loads_travel(store: Store) -> None:
    first = result(store, INTAKE.name, [["a0"]])
    second = result(store, ARTICLES.name, [["c0"]])
    assert [source.results for source in (same(first), only(first), gathered(first), every(first, second))] == [
        (first,),
        (first,),
        (first,),
        (first, second),
    ]
    for source in (same(first), same(first, batches=True), gathered(first), every(first, second)):
        loaded = pickle.loads(pickle.dumps(source.loading(0)))(store)
        assert loaded is not None
