"""The one mechanism, with small functions of our own in place of the real stages."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from storage.schemas import ARTICLES, FEATURES, INTAKE, PARAGRAPHS
from storage.store import Store
from tasks.inputs import StageResult, contents, every, gathered, same
from tasks.settings import Settings, tuning
from tasks.shard import Job, Scratch
from tasks.stage import InlineExecutor, Run, StageFailedError, StagePlan, walk

SHARDS = 3


class Knobs(Settings):
    suffix: str = ""
    pool: int = tuning(1, "changes nothing")


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
class CountingExecutor(InlineExecutor):
    made: list[str] = field(default_factory=list)

    def run(self, make: Any, jobs: Any) -> dict[str, Any]:
        self.made += [job.name for job in jobs]
        return super().run(make, jobs)


def wire(run: Run, settings: Knobs, broken: list[str]) -> None:
    first = run.stage(INTAKE, intake, shards=SHARDS, inputs={}, settings=settings, shard_argument="shard")
    second = run.stage(ARTICLES, articles, shards=SHARDS, inputs={"intake": gathered(first)})
    third = run.stage(
        PARAGRAPHS, paragraphs, shards=SHARDS, inputs={"articles": same(second)}, context={"broken": broken}
    )
    model = run.directory("models/ranker", train, version=1, inputs={"everything": every(third)})
    run.stage(FEATURES, features, shards=1, inputs={"everything": every(third), "model": contents(model)})


def build(root: Path, knobs: Knobs | None = None, broken: list[str] | None = None) -> tuple[Run, list[str]]:
    executor = CountingExecutor()
    run = Run(Store(str(root)), executor)
    warnings: list[str] = []
    walk(lambda: wire(run, knobs or Knobs(), broken or []), run.plans.clear, warnings.append)
    return run, executor.made + warnings


def test_a_build_computes_every_shard_once_and_the_next_one_none(tmp_path: Path) -> None:
    run, made = build(tmp_path)
    assert len(made) == 3 * SHARDS + 2
    assert run.stages["features"].records[0].written.rows == 1
    assert run.stages["paragraphs"].records[0].drops == {"clone": SHARDS}
    assert build(tmp_path)[1] == []


def test_the_shuffle_regroups_rows(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    table = same(run.stages["articles"]).reference(1).load(run.store)
    assert table.column("article_id").to_pylist() == ["0-1", "1-1", "2-1"]


def test_a_change_recomputes_just_what_reads_it(tmp_path: Path) -> None:
    build(tmp_path)
    # The suffix changes the rows for article shard 0 only: all of intake, then one shard of each stage below.
    assert build(tmp_path, Knobs(suffix="x"))[1] == [
        "intake-00000", "intake-00001", "intake-00002", "articles-00000", "paragraphs-00000", "models/ranker",
        "features-00000",
    ]  # fmt: skip
    assert build(tmp_path)[1] == [], "the first build's files stay"


def test_a_tuning_field_recomputes_nothing(tmp_path: Path) -> None:
    build(tmp_path)
    assert build(tmp_path, Knobs(pool=9))[1] == []


def test_a_bad_shard_fails_alone_and_by_name(tmp_path: Path) -> None:
    with pytest.raises(StageFailedError) as failure:
        build(tmp_path, broken=["0-1"])
    assert str(failure.value) == (
        "stage paragraphs: 1 of 3 failed, the rest is done and kept.\n"
        "  paragraphs-00001: ValueError: cannot read 0-1\n"
        "Run the same command again: it computes only what is missing."
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
        f"{record.written.sha256[:16]}…; set aside, computing it anew",
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


def test_planning_computes_nothing_and_says_what_would_be(tmp_path: Path) -> None:
    def plan(knobs: Knobs) -> list[StagePlan]:
        run = Run(Store(str(tmp_path)), InlineExecutor(), planning=True)
        wire(run, knobs, [])
        return run.plans

    assert plan(Knobs()) == [
        StagePlan("intake", 3, 0, 0), StagePlan("articles", 3, 0, 3), StagePlan("paragraphs", 3, 0, 3),
        StagePlan("models/ranker", 1, 0, 1), StagePlan("features", 1, 0, 1),
    ]  # fmt: skip
    assert not any(tmp_path.iterdir())
    build(tmp_path)
    assert all(stage.done == stage.shards for stage in plan(Knobs()))
    assert plan(Knobs(suffix="x"))[0] == StagePlan("intake", 3, 0, 0)


def test_a_killed_shard_leaves_nothing_that_counts_as_done(tmp_path: Path) -> None:
    run, _ = build(tmp_path)
    record = run.stages["articles"].records[0]
    (tmp_path / record.path.replace(".parquet", ".json")).unlink()  # killed between file and record
    assert build(tmp_path)[1] == ["articles-00000"]


def test_a_job_is_small(tmp_path: Path) -> None:
    import cloudpickle

    run, _ = build(tmp_path)
    reference = gathered(run.stages["intake"]).reference(0)
    job = Job(str(tmp_path), "articles", 1, 0, "k", articles, {"intake": reference}, {}, None, {})
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
        walker = Run(Store(str(tmp_path)), InlineExecutor())
        return walker.stage(FEATURES, fetch, shards=1, inputs={}, context={"fail": fail}, scratch="scratch")

    with pytest.raises(StageFailedError, match="interrupted"):
        run(fail=True)
    table = same(run(fail=False)).reference(0).load(Store(str(tmp_path)))
    assert table.column("article_id").to_pylist() == ["half"]
    assert not list((tmp_path / "features").glob(".scratch*"))
