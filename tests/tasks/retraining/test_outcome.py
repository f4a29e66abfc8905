"""The end of a retraining run: what is kept, in which order, and what a run that was killed there finds."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

from storage import schemas
from storage.builds import SUMMARIZER, Build, build_names, latest_build, save_build
from storage.errors import StorageError
from storage.registry import (
    promote_version,
    read_champion,
    read_frozen,
    read_version,
    save_version,
    usable,
    version_numbers,
)
from storage.store import Store
from tasks.engine.recipe import DirectoryResult, Recipe, StageResult
from tasks.engine.stage import Executor, Run
from tasks.retraining.card import publish_versions
from tasks.retraining.champion_change import move_late_pointer, promote_by_hand, settle
from tasks.retraining.outcome import finish_retraining
from tasks.retraining.settings import RetrainingSettings
from tasks.retraining.splits import EvaluatedVersion, HeldOutSplits, TestSplit, joined
from tasks.retraining.warm_start import RANKER, champion_models, starting_models

pytestmark = pytest.mark.integration

IDS = [f"{number:016x}" for number in range(32)]  # 16 of the frozen split, 16 of the recent one


def table(dataset: schemas.Dataset, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, dataset.schema)


def ids_of(part: int) -> list[str]:
    return IDS[16 * part : 16 * part + 16]


def articles_of(*, part: int) -> pa.Table:
    rows = [{"article_id": id_, "title": f"Title {id_}", "lead": "A lead.", "split": "test"} for id_ in ids_of(part)]
    return table(schemas.ARTICLES, rows)


def paragraphs_of(*, part: int) -> pa.Table:
    return table(schemas.PARAGRAPHS, [{"article_id": id_, "paragraph_id": 0, "text": "x"} for id_ in ids_of(part)])


def vocabulary_of(*, name: str) -> pa.Table:
    return table(schemas.VOCABULARY, [{"model": name.encode(), "pieces": 1, "sentences": 1}])


def predictions_of(*, name: str, part: int) -> pa.Table:
    rows = [
        {"article_id": id_, "system": "ht-small", "summary": f"{name} of {id_}", "tokens": [], "attention": []}
        for id_ in ids_of(part)
    ]
    return table(schemas.PREDICTIONS, rows)


def scores_of(*, f1: float, part: int) -> pa.Table:
    scored = [(id_, f1 + 0.001 * place) for place, id_ in enumerate(ids_of(part))]
    rows = [
        {"article_id": id_, "system": "ht-small", "metric": metric, "precision": f1, "recall": f1, "value": value}
        for id_, value in scored
        for metric in ("values", "values-input", "said", "rouge1", "rougeL")
    ]
    return table(schemas.SCORES, rows)


def model_of(*, name: str, directory: Path) -> dict[str, Any]:
    (directory / "model.safetensors").write_text(name)
    return {"published": ["model.safetensors"]}


def week(root: Path, name: str, f1: float, *, recent: float | None = None, **changes: Any) -> str:
    """Retrain: a model called `name` whose scores are about `f1`, and `recent` on what came in this week."""
    settings = RetrainingSettings(**{"week": "2026-W01", "keep": 1, **changes})
    run = Run(Store(str(root)), Executor())

    def stage(dataset: schemas.Dataset, function: Any, label: str, *parts: int, **arguments: Any) -> StageResult:
        each = {"part": parts} if parts else {}
        recipe = Recipe(dataset, function, arguments=arguments, per_shard=each)
        return run.stage(recipe, shards=len(parts) or 1, inputs={}, name=label)

    def split(label: str, part: int) -> TestSplit:
        return TestSplit(
            stage(schemas.ARTICLES, articles_of, f"{label}_articles", part),
            stage(schemas.PARAGRAPHS, paragraphs_of, f"{label}_paragraphs", part),
        )

    splits = HeldOutSplits(split("frozen", 0), {} if recent is None else {settings.period: split("recent", 1)})
    vocabulary = stage(schemas.VOCABULARY, vocabulary_of, "vocabulary", name="v")

    def judged(name: str, *f1: float | None, models: dict[str, DirectoryResult]) -> EvaluatedVersion:
        scored = [
            stage(schemas.SCORES, scores_of, f"{name}_scores_{part}", part, f1=value)
            for part, value in enumerate(f1)
            if value is not None
        ]
        wrote = stage(schemas.PREDICTIONS, predictions_of, f"{name}_predictions", *range(len(scored)), name=name)
        return EvaluatedVersion(vocabulary, models, wrote, joined(*scored))

    models = {
        kind: run.directory(Recipe(kind, model_of, arguments={"name": name}, version=1), inputs={})
        for kind in (RANKER, SUMMARIZER)
    }
    there = champion_models(run.store)
    champion = None
    if there is not None:
        before = round(there.version.scores["rougeL"] - 0.0075, 6)
        champion = there, judged("champion", before, None if recent is None else 0.2, models=dict(there.models))
    challenger, config = judged(name, f1, recent, models=models), {"preset": "miniweb", "name": "tiny"}

    @flow(name="finish")
    def finish() -> str:
        start = starting_models(run.store, there)
        return finish_retraining(run, config, settings, splits, challenger, champion, start=start, seed=1, started=0.0)

    return finish()


def artifacts(key: str) -> Iterator[Any]:
    with get_client(sync_client=True) as client:
        yield from client.read_artifacts(artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=[key])))


@pytest.mark.usefixtures("prefect_server")
def test_weeks_of_retraining(tmp_path: Path) -> None:
    store = Store(str(tmp_path))

    text = week(tmp_path, "first", 0.2)
    assert text.startswith("2026-W01: version 1 promoted: the first version\n")
    frozen = read_frozen(store)
    build = latest_build(store)
    assert frozen is not None
    assert build is not None
    assert (frozen.build, frozen.seed, len(frozen.articles)) == (build.name, 1, 1)
    first = read_version(store, 1)
    assert (first.build, first.parent, first.label) == (build.name, None, "2026-W01")
    assert first.scores == dict.fromkeys(("values", "values-input", "said", "rouge1", "rougeL"), pytest.approx(0.2075))
    assert first.computed["frozen_articles"] == [1, 1]
    assert (store.exists(f"{first.models[RANKER]}/model.safetensors"), usable(store, 1)) == (True, True)
    assert not list(artifacts("tiny-champion-challenger"))  # there was nobody to challenge

    text = week(tmp_path, "second", 0.3, week="2026-W02")
    assert "version 2 promoted: better than the champion: +10.00 points of values F1" in text
    assert read_champion(store).version == 2  # type: ignore[union-attr]
    assert read_version(store, 2).parent == 1
    assert read_version(store, 2).computed["frozen_articles"] == [0, 1]
    assert read_frozen(store) == frozen

    text = week(tmp_path, "third", 0.25, week="2026-W03")
    assert "version 3 refused: not better than the champion: -5.00 points of values F1" in text
    assert read_champion(store).version == 2  # type: ignore[union-attr]
    assert version_numbers(store) == [1, 2, 3]
    assert [usable(store, number) for number in (1, 2, 3)] == [
        True,
        True,
        True,
    ]  # the champion, the one before, the newest

    week(tmp_path, "fourth", 0.35, week="2026-W04")
    champion = read_champion(store)
    assert champion is not None
    assert (champion.version, champion.previous) == (4, 2)
    assert [usable(store, number) for number in (1, 2, 3, 4)] == [False, True, False, True]
    with pytest.raises(StorageError, match=r"version 3 below .* \(pruned\) or damaged. Choose one of 2, 4"):
        promote_by_hand(store, 3)

    cards = [artifact.data for artifact in artifacts("tiny-model-card")]
    assert len(cards) == 4
    assert any(card.startswith("## Model card: version 4\n") for card in cards)
    assert store.read_bytes("registry/cards/000004.md").decode() in cards
    pages = [artifact.data for artifact in artifacts("tiny-champion-challenger")]
    assert len(pages) == 3
    assert any("version 3 refused" in page.replace("\\", "") and "third of" in page for page in pages)
    assert len(list(artifacts("tiny-retrained-shards"))) == 4

    # Version 3 was pruned, yet what it showed can be shown again.
    @flow(name="again")
    def again() -> int:
        return publish_versions(store, "again")

    assert again() == 4
    shown = [artifact.data for artifact in artifacts("again-champion-challenger")]
    assert sorted(map(str, shown)) == sorted(map(str, pages))
    assert len(list(artifacts("again-model-card"))) == len(list(artifacts("again-retrained-shards"))) == 4


def started_from(store: Store) -> int | None:
    start = starting_models(store, champion_models(store))
    return None if start is None else start.version.number


@pytest.mark.usefixtures("prefect_server")
def test_a_challenger_with_a_score_that_is_no_number_is_refused_by_name(tmp_path: Path) -> None:
    week(tmp_path, "first", 0.2)
    text = week(tmp_path, "second", math.nan, week="2026-W02")
    assert text.startswith(
        "2026-W02: version 2 refused: not comparable with the champion: 16 of 16 scores of the challenger in values F1 "
        "on the frozen test split are not finite; "
    )
    store = Store(str(tmp_path))
    assert read_champion(store).version == 1  # type: ignore[union-attr]
    assert read_version(store, 2).scores == {}
    assert b"NaN" not in store.read_bytes("registry/versions/000002.json")


@pytest.mark.usefixtures("prefect_server")
def test_a_challenger_is_trained_on_from_the_last_one_unless_another_was_promoted_by_hand(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    assert started_from(store) is None
    week(tmp_path, "first", 0.2)
    assert started_from(store) == 1
    week(tmp_path, "second", 0.3, week="2026-W02")  # promoted
    assert started_from(store) == 2
    week(tmp_path, "third", 0.25, week="2026-W03")  # refused: what it learned goes on
    assert started_from(store) == 3
    week(tmp_path, "fourth", 0.28, week="2026-W04")  # likewise
    assert [read_version(store, number).start for number in (1, 2, 3, 4)] == [None, 1, 2, 3]
    assert [read_version(store, number).parent for number in (1, 2, 3, 4)] == [None, 1, 2, 2]
    card = store.read_bytes("registry/cards/000004.md").decode().replace("\\", "")
    assert "| trained on from | version 3 |" in card
    promote_by_hand(store, 1)
    assert started_from(store) == 1


@pytest.mark.usefixtures("prefect_server")
def test_a_gain_on_what_is_new_is_promoted_and_the_week_goes_on_being_judged_on(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    week(tmp_path, "first", 0.2)
    assert read_version(store, 1).recent == {}
    text = week(tmp_path, "second", 0.2, recent=0.3, week="2026-W02")
    assert "version 2 promoted: better than the champion: +10.00 points of values F1 on the recent test split" in text
    second = read_version(store, 2)
    found = [(found["split"], found["metric"], found["articles"]) for found in second.verdict["findings"]]
    metrics = ("values", "values-input", "said", "rougeL")  # what must improve, and what must not get worse
    splits = {"frozen": 16, "recent": 16, "pooled": 32}
    assert found == [(split, metric, articles) for split, articles in splits.items() for metric in metrics]
    assert second.scores["rougeL"] == pytest.approx(0.2075)  # of the frozen split, as in every week
    assert list(second.recent) == ["2026-W02"]
    assert all(store.exists(file) for file in second.recent["2026-W02"].values())
    assert len(list(artifacts("tiny-champion-challenger-recent"))) == 1
    card = store.read_bytes("registry/cards/000002.md").decode().replace("\\", "")
    assert "Evidence of the verdict" in card
    assert "must improve" in card
    text = week(tmp_path, "third", 0.3, recent=0.1, week="2026-W03")
    assert "version 3 refused: +10.00 points of values F1 on the frozen test split" in text
    assert "but worse than the champion: -10.00 points of" in text


@pytest.mark.usefixtures("prefect_server")
def test_retraining_leaves_the_builds_of_others_alone(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    mine = Build(
        "20200101-000000-abcdef", "", {}, {"articles": {"0": "articles/part-00000.0123456789abcdef.parquet"}}, {}, {}
    )
    save_build(store, mine)
    for file in ("articles/part-00000.0123456789abcdef.parquet", "articles/part-00000.0123456789abcdef.json"):
        store.write_bytes(file, b"mine")
    for number in range(1, 4):
        text = week(tmp_path, f"week {number}", 0.1 * number, week=f"2026-W0{number}")
    assert "version 3 promoted" in text
    assert not usable(store, 1)
    assert mine.name in build_names(store)
    assert store.read_bytes("articles/part-00000.0123456789abcdef.parquet") == b"mine"


@pytest.mark.usefixtures("prefect_server")
def test_a_run_killed_before_the_pointer_moved_is_settled_by_the_next(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    settings = RetrainingSettings(keep=2)
    week(tmp_path, "first", 0.2)
    first = read_version(store, 1)
    second = {
        **vars(first),
        "number": 2,
        "label": "2026-W02",
        "parent": 1,
        "verdict": {"promoted": True, "reason": "so"},
    }
    save_version(store, type(first)(**second))
    assert read_champion(store).version == 1  # type: ignore[union-attr]
    assert "champion: version 2" in settle(store, read_version(store, 2), settings)
    promote_version(store, 1, at="later", why="rolled back")
    assert "champion: version 1" in settle(store, read_version(store, 2), settings)  # what people did stays


@pytest.mark.usefixtures("prefect_server")
def test_the_next_week_starts_from_a_version_whose_pointer_was_not_moved(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    move_late_pointer(store)
    assert read_champion(store) is None
    week(tmp_path, "first", 0.2)
    first = read_version(store, 1)
    better = {"parent": 1, "verdict": {"promoted": True, "reason": "so"}}
    save_version(store, type(first)(**{**vars(first), **better, "number": 2, "label": "2026-W02"}))
    move_late_pointer(store)
    assert read_champion(store).version == 2  # type: ignore[union-attr]
    save_version(store, type(first)(**{**vars(first), **better, "number": 3, "label": "2026-W03"}))
    move_late_pointer(store)
    assert read_champion(store).version == 2  # type: ignore[union-attr]  # it was judged against version 1


def test_rolling_back_says_what_it_did(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    with pytest.raises(StorageError, match=r"no version 7 below .*; existing versions: none"):
        promote_by_hand(store, 7)
