"""The one mechanism, with small functions of our own in place of the real stages."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from storage.errors import CorruptShardError
from storage.schemas import ARTICLES, FEATURES, INTAKE, PARAGRAPHS
from storage.store import Store
from tasks.engine.job import Job, Scratch
from tasks.engine.recipe import Recipe, StageResult, contents, every, gathered, same
from tasks.engine.settings import Settings, tuning
from tasks.engine.stage import Executor, Run, StageFailedError, StagePlan, walk

SHARDS = 3


class Knobs(Settings):
    suffix: str = ""
    pool: int = tuning(1)


def intake(*, settings: Knobs, shard: int) -> pa.Table:
    rows = [
        {"article_id": f"{shard}-{i}{settings.suffix if i == 0 else ''}", "title": "t", "article_shard": i}
        for i in range(SHARDS)
    ]
    return pa.Table.from_pylist(rows, schema=INTAKE.schema)


def articles(*, intake: pa.Table) -> pa.Table:
    return intake.drop_columns(["article_shard"])


def paragraphs(*, articles: pa.Table, broken: list[str]) -> pa.Table:
    ids = articles.column("article_id").to_pylist()
    if set(ids) & set(broken):
        raise ValueError(f"cannot read {ids[0]}")
    return pa.Table.from_pylist([{"article_id": i, "drop_reason": "clone"} for i in ids], schema=PARAGRAPHS.schema)


def features(*, everything: Any, model: Path) -> pa.Table:
    count = sum(table.num_rows for (table,) in everything)
    row = {"article_id": (model / "weights").read_text(), "paragraph_id": count}
    return pa.Table.from_pylist([row], schema=FEATURES.schema)


def train(*, everything: Any, directory: Path) -> dict[str, Any]:
    (directory / "weights").write_text(f"{len(everything)} shards")
    return {"published": ["weights"], "loss": 0.5}


@dataclass
class CountingExecutor(Executor):
    made: list[str] = field(default_factory=list)

    def run(self, make: Any, jobs: Any, after: Any = ()) -> dict[str, Any]:
        self.made += [job.name for job in jobs]
        return super().run(make, jobs)


def wire(run: Run, settings: Knobs, broken: list[str]) -> None:
    first = run.stage(
        Recipe(INTAKE, intake, settings=settings, per_shard={"shard": range(SHARDS)}), shards=SHARDS, inputs={}
    )
    second = run.stage(Recipe(ARTICLES, articles), shards=SHARDS, inputs={"intake": gathered(first)})
    third = run.stage(
        Recipe(PARAGRAPHS, paragraphs), shards=SHARDS, inputs={"articles": same(second)}, context={"broken": broken}
    )
    model = run.directory(Recipe("models/ranker", train, version=1), inputs={"everything": every(third)})
    run.stage(Recipe(FEATURES, features), shards=1, inputs={"everything": every(third), "model": contents(model)})


def build(root: Path, knobs: Knobs | None = None, broken: list[str] | None = None) -> tuple[Run, list[str]]:
    executor = CountingExecutor()
    run = Run(Store(str(root)), executor)
    warnings: list[str] = []
    walk(run.store, lambda: wire(run, knobs or Knobs(), broken or []), run.plans.clear, warnings.append)
    return run, executor.made + warnings


def test_a_build_computes_every_shard_once_and_the_next_one_none(tmp_path: Path) -> None:
    run, made = build(tmp_path)
    assert len(made) == 3 * SHARDS + 2
    assert run.stages["features"].records[0].written.rows == 1
    assert run.stages["paragraphs"].records[0].drops == {"clone": SHARDS}
    assert build(tmp_path)[1] == []


def test_the_shuffle_regroups_rows(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    table = same(run.stages["articles"]).loading(1)(run.store)
    assert table.column("article_id").to_pylist() == ["0-1", "1-1", "2-1"]


def test_a_change_recomputes_just_what_reads_it(tmp_path: Path) -> None:
    build(tmp_path)
    # The suffix changes the rows for article shard 0 only: all of intake, then one shard of each stage below.
    assert build(tmp_path, Knobs(suffix="x"))[1] == [
        "intake-00000",
        "intake-00001",
        "intake-00002",
        "articles-00000",
        "paragraphs-00000",
        "models/ranker",
        "features-00000",
    ]
    assert build(tmp_path)[1] == [], "the first build's files stay"


def test_a_tuning_field_recomputes_nothing(tmp_path: Path) -> None:
    build(tmp_path)
    assert build(tmp_path, Knobs(pool=9))[1] == []


def test_a_bad_shard_fails_alone_and_by_name(tmp_path: Path) -> None:
    with pytest.raises(StageFailedError) as failure:
        build(tmp_path, broken=["0-1"])
    assert str(failure.value) == (
        "stage paragraphs: 1 of 3 failed, the others are done and kept.\n"
        "  paragraphs-00001: ValueError: cannot read 0-1\n"
        "The same command would meet this again: mend what is named, then it computes only what is missing."
    )
    assert build(tmp_path)[1] == ["paragraphs-00001", "models/ranker", "features-00000"]


def test_a_damaged_shard_is_set_aside_and_computed_anew(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    record = run.stages["articles"].records[2]
    path = tmp_path / record.path
    good = path.read_bytes()
    path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    for file in (tmp_path / "paragraphs").iterdir():
        file.unlink()
    _, made = build(tmp_path)
    assert [name for name in made if "articles" in name] == [
        "articles-00002",
        f"{record.path} is damaged: its sha256 is {made[-1].split('sha256 is ')[1][:16]}…, its record says "
        f"{record.written.sha256[:16]}…; set aside, computing it again",
    ]
    assert path.read_bytes() == good
    assert (tmp_path / f"{record.path}.damaged").exists()


def test_a_deleted_shard_is_simply_missing(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    (tmp_path / run.stages["articles"].records[1].path).unlink()
    assert build(tmp_path)[1] == ["articles-00001"]


def test_a_damaged_model_is_trained_anew(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    record = run.directories["models/ranker"].record
    assert record is not None
    (tmp_path / record.path / "weights").write_text("other")
    for file in (tmp_path / "features").iterdir():
        file.unlink()
    made = [name for name in build(tmp_path)[1] if "damaged" not in name]
    assert made == ["features-00000", "models/ranker", "features-00000"]


@pytest.mark.parametrize("damage", [b"", b"{}", b"garbage", b"[]", b"null", b'{"name": "models/ranker"}', b"\xff\xfe"])
def test_a_damaged_record_of_a_model_heals_as_that_of_a_shard_does(
    tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    run, _ = build(tmp_path)
    model, shard = run.directories["models/ranker"].record, run.stages["articles"].records[1]
    assert model is not None
    sidecars = [f"{model.path}.json", shard.path.replace(".parquet", ".json")]
    for sidecar in sidecars:
        (tmp_path / sidecar).write_bytes(damage)
    assert build(tmp_path)[1] == ["articles-00001", "models/ranker"]
    assert all(f"{sidecar} cannot be read" in caplog.text for sidecar in sidecars)
    assert build(tmp_path)[1] == []


def test_a_flipped_digit_in_a_record_is_damage(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    record = run.stages["paragraphs"].records[0]
    sidecar = tmp_path / record.path.replace(".parquet", ".json")
    sidecar.write_bytes(sidecar.read_bytes().replace(b'"clone": 3', b'"clone": 2'))
    assert build(tmp_path)[1] == ["paragraphs-00000"]


def test_repair_goes_on_while_it_finds_other_damage(tmp_path: Path) -> None:
    """Twelve files are damaged and each walk finds one of them; then one that is damaged again and again."""

    def run(damaged: list[str]) -> tuple[int, list[str]]:
        walks, warnings = 0, []

        def wiring() -> int:
            nonlocal walks
            walks += 1
            if walks <= len(damaged):
                path = damaged[walks - 1]
                raise StageFailedError("articles", {path: CorruptShardError(path, "flipped")}, 1)
            return walks

        try:
            return walk(Store(str(tmp_path)), wiring, lambda: None, warnings.append), warnings
        except StageFailedError:
            return -walks, warnings

    walks, warnings = run([f"articles/part-{n}" for n in range(12)])
    assert (walks, len(warnings)) == (13, 12)
    walks, warnings = run(["articles/part-0"] * 12)
    assert (walks, len(warnings)) == (-4, 3)


def test_damage_that_the_wiring_itself_meets_is_repaired(tmp_path: Path) -> None:
    """What a flow reads between two stages is no stage's input: the walk sets it aside as a stage would."""
    executor = CountingExecutor()
    run, warnings = Run(Store(str(tmp_path)), executor), list[str]()
    build(tmp_path)
    victim = next(tmp_path.glob("articles/part-00001*.parquet"))
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)

    def wiring() -> None:
        wire(run, Knobs(), [])
        for record in run.stages["articles"].in_order:
            run.store.read_table(record.path, record.written.sha256)

    walk(run.store, wiring, run.plans.clear, warnings.append)
    assert [warning.partition(" is damaged")[0] for warning in warnings] == [f"articles/{victim.name}"]
    assert executor.made == ["articles-00001"]


def test_planning_computes_nothing_and_says_what_would_be(tmp_path: Path) -> None:
    def plan(knobs: Knobs) -> list[StagePlan]:
        run = Run(Store(str(tmp_path)), Executor(), planning=True)
        wire(run, knobs, [])
        return run.plans

    assert plan(Knobs()) == [
        StagePlan("intake", 3, 0, 0),
        StagePlan("articles", 3, 0, 3),
        StagePlan("paragraphs", 3, 0, 3),
        StagePlan("models/ranker", 1, 0, 1),
        StagePlan("features", 1, 0, 1),
    ]
    assert not any(tmp_path.iterdir())
    build(tmp_path)
    assert all(stage.done == stage.shards for stage in plan(Knobs()))
    assert plan(Knobs(suffix="x"))[0] == StagePlan("intake", 3, 0, 0)


@dataclass
class ShowingExecutor(Executor):
    shown: list[tuple[str, int, StagePlan]] = field(default_factory=list)

    def publish(self, result: StageResult, planned: StagePlan) -> None:
        self.shown.append((result.stage, len(result.records), planned))


def test_a_finished_stage_is_shown_with_what_was_found_and_a_planned_one_is_not(tmp_path: Path) -> None:
    def show(**changes: Any) -> list[tuple[str, int, StagePlan]]:
        executor = ShowingExecutor()
        run = Run(Store(str(tmp_path)), executor, **changes)
        first = run.stage(
            Recipe(INTAKE, intake, settings=Knobs(), per_shard={"shard": range(SHARDS)}), shards=SHARDS, inputs={}
        )
        run.stage(Recipe(ARTICLES, articles), shards=SHARDS, inputs={"intake": gathered(first)}, name="its articles")
        return executor.shown

    assert show(planning=True) == []
    assert show() == [("intake", 3, StagePlan("intake", 3, 0, 0)), ("articles", 3, StagePlan("its articles", 3, 0, 0))]
    assert show()[1] == ("articles", 3, StagePlan("its articles", 3, 3, 0))


def test_a_directory_is_planned_as_missing_done_or_waiting(tmp_path: Path) -> None:
    def plans(**changes: Any) -> list[StagePlan]:
        run = Run(Store(str(tmp_path)), Executor(), **changes)
        first = run.stage(Recipe(INTAKE, intake, settings=Knobs(), per_shard={"shard": range(1)}), shards=1, inputs={})
        one = Recipe("models/ranker", lambda one, directory: train(everything=[one], directory=directory), version=1)
        run.directory(one, inputs={"one": same(first)})
        none = Recipe("models/first", lambda directory: train(everything=[], directory=directory), version=1)
        run.directory(none, inputs={})
        return run.plans[1:]

    assert plans(planning=True) == [StagePlan("models/ranker", 1, 0, 1), StagePlan("models/first", 1, 0, 0)]
    assert plans() == [StagePlan("models/ranker", 1, 0, 0), StagePlan("models/first", 1, 0, 0)]
    assert plans() == [StagePlan("models/ranker", 1, 1, 0), StagePlan("models/first", 1, 1, 0)]
    assert [plan.missing for plan in (StagePlan("s", 7, 4, 1), StagePlan("s", 1, 0, 0))] == [2, 1]


def test_many_failures_are_named_up_to_twenty() -> None:
    failure = StageFailedError("crawl", {f"crawl-{i:05d}": ConnectionError(f"no {i}") for i in range(22)}, 30)
    lines = str(failure).splitlines()
    assert lines[0] == "stage crawl: 22 of 30 failed, the others are done and kept."
    assert lines[1] == "  crawl-00000: ConnectionError: no 0"
    assert lines[20:] == [
        "  crawl-00019: ConnectionError: no 19",
        "  and 2 more",
        "Run the same command again: it computes only what is missing.",
    ]
    twenty = StageFailedError("crawl", {f"crawl-{i:05d}": ValueError("no") for i in range(20)}, 30)
    assert "more" not in str(twenty)


def test_the_same_command_is_advised_only_where_it_may_help() -> None:
    wrong, gone, full = ValueError("line 2"), FileNotFoundError("a.jsonl"), OSError("no space left")
    assert StageFailedError("intake", {"a": wrong, "b": gone}, 2).is_lasting
    assert not StageFailedError("intake", {"a": wrong, "b": full}, 2).is_lasting


def test_a_killed_shard_leaves_nothing_that_counts_as_done(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    record = run.stages["articles"].records[0]
    (tmp_path / record.path.replace(".parquet", ".json")).unlink()  # killed between file and record
    assert build(tmp_path)[1] == ["articles-00000"]


def test_a_job_is_small(tmp_path: Path) -> None:
    import cloudpickle

    run, _ = build(tmp_path)
    load = gathered(run.stages["intake"]).loading(0)
    job = Job(
        root=str(tmp_path),
        recipe=Recipe(ARTICLES, articles, per_shard={"numbers": [range(10)] * 1000}).of(0),
        shard=0,
        key="k",
        inputs={"intake": load},
        digests={},
    )
    assert len(cloudpickle.dumps(job)) < 4000


def test_scratch_outlives_a_failure_and_goes_with_success(tmp_path: Path) -> None:
    def fetch(*, scratch: Scratch, fail: bool) -> pa.Table:
        scratch.filesystem.create_dir(scratch.path)
        journal = Path(scratch.path) / "journal"
        seen = journal.read_text() if journal.exists() else "nothing"
        journal.write_text("half")
        if fail:
            raise ValueError("interrupted")
        return pa.Table.from_pylist([{"article_id": seen, "paragraph_id": 0}], schema=FEATURES.schema)

    def run(fail: bool) -> StageResult:
        walker = Run(Store(str(tmp_path)), Executor())
        return walker.stage(Recipe(FEATURES, fetch), shards=1, inputs={}, context={"fail": fail}, scratch="scratch")

    with pytest.raises(StageFailedError, match="interrupted"):
        run(fail=True)
    table = same(run(fail=False)).loading(0)(Store(str(tmp_path)))
    assert table.column("article_id").to_pylist() == ["half"]
    assert not list((tmp_path / "features").glob(".scratch*"))
