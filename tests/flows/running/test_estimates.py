from pathlib import Path

import pytest

from flows.running.estimates import Estimate, corpus_hours, estimate, label_rate, queries
from storage.recipes import ShardRecord, save_record
from storage.store import Store, WrittenTable
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Executor, Run, StagePlan
from tasks.search.settings import WebSearchSettings


def record(stage: str, shard: int, rows: int, seconds: float, **drops: int) -> ShardRecord:
    return ShardRecord(stage, shard, f"{shard:016x}", WrittenTable(rows, 1, "", ""), drops, {}, {}, 1, seconds, 1)


def planned(root: Path, shards: int, *records: ShardRecord) -> Run:
    """A planned walk over the stages of the records, each of so many shards."""
    run = Run(Store(str(root)), Executor(), planning=True)
    for stage in dict.fromkeys(one.stage for one in records):
        done = {one.shard: one for one in records if one.stage == stage}
        run.stages[stage] = StageResult(stage, range(shards), done)
        run.plans.append(StagePlan(stage, shards, len(done), 0))
    return run


def test_what_is_left_takes_as_long_as_what_is_done(tmp_path: Path) -> None:
    run = planned(tmp_path, 10, record("paragraphs", 0, 5, 20.0), record("paragraphs", 3, 5, 40.0))
    assert estimate(run) == {"paragraphs": Estimate(30.0, 8 * 30.0 / 3600)}


def test_where_no_shard_of_the_plan_is_done_other_records_of_the_root_tell(tmp_path: Path) -> None:
    save_record(Store(str(tmp_path)), record("features", 4, 5, 90.0))
    (tmp_path / "features" / "part-00007.cut.json").write_text("{")
    run = planned(tmp_path, 2)
    run.stages["features"] = StageResult("features", range(2), {})
    run.plans += [StagePlan("features", 2, 0, 2), StagePlan("models/ranker", 1, 0, 1)]
    assert estimate(run) == {"features": Estimate(90.0, 2 * 90.0 / 3600), "models/ranker": Estimate(None, None)}


def test_stages_that_write_one_dataset_have_times_of_their_own(tmp_path: Path) -> None:
    run = Run(Store(str(tmp_path)), Executor(), planning=True)
    for stage, seconds in (("predictions", 50.0), ("baselines", 4.0)):
        run.stages[stage] = StageResult("predictions", range(2), {0: record("predictions", 0, 5, seconds)})
        run.plans.append(StagePlan(stage, 2, 1, 0))
    assert [one.shard_seconds for one in estimate(run).values()] == [50.0, 4.0]


def test_labels_are_rated_by_paragraph(tmp_path: Path) -> None:
    # 100,000 candidates in 200 s, half of them kept, and labels for 100 of these in 1 s: 2 + 5 ms a candidate.
    features, small = record("features", 0, 100, 1.0), record("paragraphs", 0, 99_999, 2.0)
    candidates = record("paragraphs", 0, 100_000, 200.0, clone=30_000, too_short=20_000)
    assert label_rate(planned(tmp_path, 1, candidates, features)) == pytest.approx(1 / 0.007)
    assert label_rate(planned(tmp_path, 1, small, features)) is None
    assert label_rate(planned(tmp_path, 1, features)) is None


def test_the_whole_corpus_is_rated_by_what_was_measured_or_by_the_benchmark() -> None:
    assert corpus_hours(1_000.0) == pytest.approx(1_579_360 * 525 / 1_000 / 3600)
    assert corpus_hours(None) == pytest.approx(8.47, abs=0.01)


def test_queries_are_those_of_shards_that_were_not_searched(tmp_path: Path) -> None:
    articles = [record("articles", shard, 100, 1.0, short_lead=10) for shard in range(2)]
    google = WebSearchSettings.model_validate({"provider": "google", "key": "k", "engine": "e"})
    assert queries(planned(tmp_path, 2, *articles, record("search", 1, 800, 1.0)), google) == 90
    assert (
        queries(planned(tmp_path, 2, *articles, record("search", 0, 8, 1.0), record("search", 1, 8, 1.0)), google) == 0
    )
    assert queries(planned(tmp_path, 2, articles[0], record("search", 0, 8, 1.0)), google) is None
    assert queries(planned(tmp_path, 2, *articles), WebSearchSettings()) == 0


@pytest.mark.parametrize(
    ("settings", "price"),
    [
        ({"provider": "google", "key": "k", "engine": "e"}, 0.005),
        ({"provider": "brave", "key": "k"}, None),
        ({"provider": "brave", "key": "k", "price_per_thousand": 3}, 0.003),
        ({"provider": "searxng", "endpoint": "http://search.test/"}, 0.0),
    ],
)
def test_a_query_costs_what_the_settings_say(settings: dict[str, object], price: float | None) -> None:
    assert WebSearchSettings.model_validate(settings).query_price == price
