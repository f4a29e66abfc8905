"""Why something is computed: the first thing that differs from what was made last."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from storage.recipes import record_path
from storage.schemas import ARTICLES, FEATURES, PARAGRAPHS
from storage.sealed import seal, unseal
from storage.store import Store
from tasks.engine.recipe import Recipe, StageResult, every, same
from tasks.engine.settings import Settings
from tasks.engine.stage import Executor, Run, StagePlan


class Inner(Settings):
    sizes: tuple[int, ...] = (1, 2)


class Knobs(Settings):
    text: str = "a"
    inner: Inner = Inner()


def articles(*, settings: Knobs, seed: int) -> pa.Table:
    rows = [{"article_id": f"{settings.text}{seed}", "title": "t"}]
    return pa.Table.from_pylist(rows, schema=ARTICLES.schema)


def paragraphs(*, articles: pa.Table, **_: Any) -> pa.Table:
    ids = articles.column("article_id").to_pylist()
    return pa.Table.from_pylist([{"article_id": id_} for id_ in ids], schema=PARAGRAPHS.schema)


def train(*, everything: Any, directory: Path) -> dict[str, Any]:
    (directory / "weights").write_text(str(len(everything)))
    return {"published": ["weights"]}


class Telling(Executor):
    def __init__(self) -> None:
        self.told: list[str] = []

    def begin(self, planned: StagePlan) -> None:
        self.told.append(f"{planned.stage}: {planned.reason}")


def reasons(
    root: Path,
    *,
    planning: bool = False,
    knobs: Knobs | None = None,
    seed: int = 1,
    shards: int = 2,
    version: int = 3,
    newer: int = 0,
    notes: dict[str, str] | None = None,
    reads: str = "articles",
    name: str = "paragraphs",
) -> dict[str, str]:
    """Walk three stages; return stage -> why, for those of which something was or would be computed."""
    run = Run(Store(str(root)), executor := Telling(), planning)
    made = replace(ARTICLES, version=ARTICLES.version + newer)
    first = run.stage(
        Recipe(made, articles, settings=knobs or Knobs(), arguments={"seed": seed}), shards=shards, inputs={}
    )
    inputs = {"articles": same(first)} | ({"more": same(first)} if reads == "more" else {})
    second = run.stage(Recipe(PARAGRAPHS, paragraphs, notes=notes or {}), shards=shards, inputs=inputs, name=name)
    run.directory(Recipe("models/ranker", train, version=version), inputs={"everything": every(first, second)})
    found = {plan.stage: plan.reason for plan in run.plans if plan.reason}
    assert planning or executor.told == [f"{stage}: {reason}" for stage, reason in found.items()]
    return found


def test_on_a_new_root_nothing_was_made_and_on_a_finished_one_nothing_is_asked(tmp_path: Path) -> None:
    assert reasons(tmp_path, planning=True) == {
        "articles": "never made here",
        "paragraphs": "waits for articles",
        "models/ranker": "waits for articles, paragraphs",
    }
    named = reasons(tmp_path, planning=True, name="unranked")
    assert named["models/ranker"] == "waits for articles, unranked", "as the plan lists it, not as its dataset"
    assert set(reasons(tmp_path).values()) == {"never made here"}
    assert reasons(tmp_path) == {}
    assert reasons(tmp_path, planning=True) == {}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"newer": 2}, {"articles": f"stage version {ARTICLES.version} -> {ARTICLES.version + 2}"}),
        ({"version": 4}, {"models/ranker": "stage version 3 -> 4"}),
        ({"notes": {"tagger": "rules"}}, {"paragraphs": "note tagger is new: 'rules'"}),
        ({"knobs": Knobs(inner=Inner(sizes=(1, 3)))}, {"articles": "setting inner.sizes changed: [1, 2] -> [1, 3]"}),
        (
            {"seed": 2},
            {
                "articles": "setting seed changed: 1 -> 2",
                "paragraphs": "input articles changed",
                "models/ranker": "input articles, paragraphs changed",
            },
        ),
        (
            {"seed": 2, "newer": 1},
            {
                "articles": f"stage version {ARTICLES.version} -> {ARTICLES.version + 1} (and 1 more)",
                "paragraphs": "input articles changed",
                "models/ranker": "input articles, paragraphs changed",
            },
        ),
        ({"reads": "more"}, {"paragraphs": "input articles is new"}),
        (
            {"shards": 3},
            {
                "articles": "never made here",
                "paragraphs": "never made here",
                "models/ranker": "input articles, paragraphs changed",
            },
        ),
    ],
)
def test_the_first_difference_is_named(tmp_path: Path, change: dict[str, Any], expected: dict[str, str]) -> None:
    reasons(tmp_path)
    planned = reasons(tmp_path, planning=True, **change)
    assert next(iter(planned.items())) == next(iter(expected.items()))
    assert reasons(tmp_path, **change) == expected
    assert reasons(tmp_path, **change) == {}


def test_a_change_is_held_against_what_was_made_last(tmp_path: Path) -> None:
    for seed in (1, 2):
        reasons(tmp_path, seed=seed)
    assert reasons(tmp_path, seed=3)["articles"] == "setting seed changed: 2 -> 3"


def test_a_stage_that_waits_says_what_else_has_changed(tmp_path: Path) -> None:
    reasons(tmp_path)
    planned = reasons(tmp_path, planning=True, seed=2, version=4)
    assert planned["paragraphs"] == "waits for articles"
    assert planned["models/ranker"] == "stage version 3 -> 4"


def test_what_is_no_longer_read_or_set_is_named(tmp_path: Path) -> None:
    reasons(tmp_path, reads="more", notes={"tagger": "rules"})
    assert reasons(tmp_path, planning=True)["paragraphs"] == "note tagger is gone (and 1 more)"
    reasons(tmp_path, reads="more")
    assert reasons(tmp_path, planning=True)["paragraphs"] == "input more is no longer read"


def test_damage_is_named_as_such(tmp_path: Path) -> None:
    reasons(tmp_path)
    store = Store(str(tmp_path))
    shard = next(name for name in store.sizes("articles") if name.endswith(".parquet"))
    store.write_bytes(f"articles/{shard}", b"short")
    model = next(name for name in store.sizes("models/ranker") if name.endswith(".json"))
    store.delete(f"models/ranker/{model.removesuffix('.json')}/weights")
    assert reasons(tmp_path) == {
        "articles": "its file is damaged or incomplete",
        "models/ranker": "a file of it is damaged or gone",
    }


def test_records_of_before_these_fields_are_compared_as_far_as_they_go(tmp_path: Path) -> None:
    reasons(tmp_path)
    store = Store(str(tmp_path))
    model = next(f"models/ranker/{name}" for name in store.sizes("models/ranker") if name.endswith(".json"))
    fields = unseal(store.read_bytes(model))
    for name in ("version", "notes"):
        del fields[name]
    store.write_bytes(model, seal(fields))
    assert reasons(tmp_path) == {}, "its shards are not forgotten"
    assert reasons(tmp_path, planning=True, version=4) == {"models/ranker": "made by code whose records hold less"}


def test_a_stage_that_shares_a_dataset_is_not_taken_for_another(tmp_path: Path) -> None:
    run = Run(Store(str(tmp_path)), Executor())
    nothing = StageResult("articles", [], {})
    for name, width in (("lead", 1), ("concepts", 2), ("lead", 3)):
        run.stage(
            Recipe(FEATURES, _empty, arguments={"width": width}), shards=1, inputs={"a": every(nothing)}, name=name
        )
    assert [plan.reason for plan in run.plans] == [
        "never made here",
        "never made here",
        "setting width changed: 1 -> 3",
    ]
    record = run.stages["lead"].records[0]
    assert unseal(run.store.read_bytes(record_path("features", 0, record.key)))["title"] == "lead"


def _empty(*, a: Any, width: int) -> pa.Table:
    return FEATURES.schema.empty_table()
