"""The wiring of retraining: what starts from the champion, what stays frozen, and the commands beside it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
import yaml
from prefect.client.schemas.objects import ConcurrencyLimitConfig
from prefect.client.schemas.schedules import CronSchedule

from flows import dag
from flows.config import BuildConfig
from flows.prune import prune
from flows.retrain import challenge, updated_corpus
from flows.running.session import Session, planning_session
from flows.stages import intake
from flows.stages.results import Articles, Compared, Features, VocabularyTable
from flows.stages.texts import CorpusStages
from flows.stages.versions import earlier_test_articles, freeze, held_out_splits, judge, train_challenger
from storage import schemas
from storage.builds import SUMMARIZER, Build, build_names, save_build
from storage.directories import DirectoryRecord
from storage.errors import RootBusyError
from storage.inventory import take_stock
from storage.recipes import ShardRecord
from storage.registry import FrozenSplit, Version, read_frozen, save_frozen, save_version
from storage.root import root_lock
from storage.store import Store, WrittenTable
from tasks.engine.job import Job
from tasks.engine.recipe import DirectoryResult, Recipe, StageResult, every, same
from tasks.engine.stage import Executor, Run
from tasks.retraining import warm_start
from tasks.retraining.splits import EvaluatedVersion
from tasks.retraining.warm_start import RANKER, VersionModels
from tests.flows.recording import walked
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration

PROJECT = Path(__file__).parents[2]


def config(**given: Any) -> BuildConfig:
    retraining = {"ranker_steps": 11, "summarizer_steps": 13, "warmup": 3, "test_articles": 40}
    return BuildConfig.model_validate(
        {"shards": {"articles": 3}, "retraining": {**retraining, **given.pop("retraining", {})}, **given}
    )


def champion(settings: BuildConfig) -> VersionModels:
    models = {
        name: DirectoryResult(name, DirectoryRecord(name, "old", {}, f"digest of {name}", {}, {}, {}, 0.0))
        for name in (RANKER, SUMMARIZER)
    }
    version = Version(1, "", "", "", None, {}, "", settings.model_dump(mode="json"), {}, {})
    written = WrittenTable(1, 1, "", "digest of the vocabulary")
    words = ShardRecord("vocabulary", 0, "old", written, {}, {}, {}, 1, 0.0, 0)
    return VersionModels(version, StageResult("vocabulary", range(1), {0: words}), models)


def models(session: Session, start: VersionModels | None) -> None:
    """What `challenge` does before it judges."""
    train_challenger(session, dag.corpus(session) if start is None else updated_corpus(session, start), start)


def made(jobs: list[Job], stage: str) -> Job:
    (job,) = [job for job in jobs if job.stage == stage]
    return job


def test_a_challenger_starts_from_the_champion(tmp_path: Path) -> None:
    settings = config()
    session, jobs = walked(settings, lambda session: models(session, champion(settings)), tmp_path)
    assert not [job for job in jobs if job.stage == "vocabulary"]
    for name, steps in ((RANKER, 11), (SUMMARIZER, 13)):
        job = made(jobs, name)
        assert job.digests["initial"] == [f"digest of {name}"]
        assert job.digests["vocabulary"] == ["digest of the vocabulary"]
        recipe = job.recipe.fields(0)
        assert recipe.get("steps", recipe.get("training", {}).get("steps")) == steps
    assert session.run.directories[RANKER].record.key == made(jobs, RANKER).key  # type: ignore[union-attr]


def test_a_ranker_that_gains_too_little_leaves_the_champions_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_start, "RANKER_GAIN", 0.6)  # the recorded ranker saves half of the loss above the floor
    settings = config()
    session, jobs = walked(settings, lambda session: models(session, champion(settings)), tmp_path)
    assert session.run.directories[RANKER].record.key == "old"  # type: ignore[union-attr]
    dropped = session.run.directories[f"{RANKER}, replaced"].record
    assert dropped is not None
    assert dropped.key == made(jobs, RANKER).key  # the manifest names it, so that pruning finds it
    assert {tuple(job.digests["ranker_directory"]) for job in jobs if job.stage == "ranked"} == {
        (f"digest of {RANKER}",)
    }


@pytest.mark.parametrize(("method", "reads"), [("ranking", True), ("similarity", False)])
def test_only_the_order_by_the_ranker_depends_on_it(tmp_path: Path, method: str, reads: bool) -> None:
    settings = config(ranking={"method": method})
    _, jobs = walked(settings, lambda session: models(session, champion(settings)), tmp_path)
    assert {"ranker_directory" in job.digests for job in jobs if job.stage == "ranked"} == {reads}


def test_without_a_champion_and_where_none_fits_models_are_trained_afresh(tmp_path: Path) -> None:
    settings = config()
    _, first = walked(settings, lambda session: models(session, None), tmp_path)
    _, plain = walked(settings, dag.summarizer, tmp_path)
    assert {job.key for job in plain} <= {job.key for job in first}
    assert {job.stage for job in first} - {job.stage for job in plain} == {"ranking_scores"}
    other = champion(config(ranker={"hidden": 8}, summarizer={"preset": "ft-small", "graph": "none"}))
    _, jobs = walked(settings, lambda session: models(session, other), tmp_path)
    assert "initial" not in {**made(jobs, RANKER).digests, **made(jobs, SUMMARIZER).digests}


def test_the_frozen_split_is_judged_shard_by_shard(tmp_path: Path) -> None:
    def wiring(session: Session) -> EvaluatedVersion:
        corpus = updated_corpus(session, None)
        return judge(session, "challenger", held_out_splits(session, corpus), train_challenger(session, corpus, None))

    session, jobs = walked(config(), wiring, tmp_path)
    stages = (
        "frozen_articles",
        "frozen_paragraphs",
        "frozen_features",
        "challenger_ranked",
        "challenger_graphs",
        "challenger_examples",
        "challenger_predictions",
        "challenger_scores",
    )
    assert {stage: len(session.run.stages[stage].shards) for stage in stages} == dict.fromkeys(stages, 3)
    frozen = [job for job in jobs if job.stage == "articles" and "of" in job.recipe.arguments]
    assert [
        (job.recipe.arguments["shard"], job.recipe.arguments["of"], job.recipe.arguments["articles"]) for job in frozen
    ] == [(0, 3, 40), (1, 3, 40), (2, 3, 40)]


def no_articles() -> pa.Table:
    return schemas.ARTICLES.schema.empty_table()


def no_paragraphs() -> pa.Table:
    return schemas.PARAGRAPHS.schema.empty_table()


def corpus_of(articles: StageResult, paragraphs: StageResult) -> CorpusStages:
    """A corpus of which only articles and paragraphs are read."""
    return CorpusStages(Articles(articles), Compared(paragraphs), Features(articles), VocabularyTable(articles))


def test_no_version_is_judged_on_nothing(tmp_path: Path) -> None:
    executor = Executor()
    session = Session(config(), executor, Run(Store(str(tmp_path)), executor))  # type: ignore[arg-type]
    articles = session.run.stage(Recipe(schemas.ARTICLES, no_articles), shards=1, inputs={})
    paragraphs = session.run.stage(Recipe(schemas.PARAGRAPHS, no_paragraphs), shards=1, inputs={})
    with pytest.raises(ValueError, match="the corpus has no test article with a candidate paragraph"):
        freeze(session, corpus_of(articles, paragraphs))


def find_week(root: Path, *lines: dict[str, Any]) -> Session:
    """Read the articles of a week from JSONL, as retraining does."""
    (root / "articles.jsonl").write_text(
        "".join(f"{json.dumps({'references': ['http://a.test/'], **line})}\n" for line in lines)
    )
    settings = config(root=str(root), source={"kind": "records", "records": {"paths": [str(root / "articles.jsonl")]}})
    executor = Executor()
    session = Session(settings, executor, Run(Store(str(root)), executor))  # type: ignore[arg-type]
    intake.articles(session, kept_out=earlier_test_articles(session))
    return session


def splits(session: Session) -> dict[str, tuple[str, str | None]]:
    """Return title -> split and reason."""
    shards = every(session.run.stages["articles"]).loading(0)(session.run.store)
    rows = [row for (table,) in shards for row in table.to_pylist()]
    return {row["title"]: (row["split"], row["drop_reason"]) for row in rows}


def test_no_frozen_article_is_learned_from_whatever_becomes_of_its_title_or_split(tmp_path: Path) -> None:
    lines = [{"title": f"T{n}", "lead": f"Lead number {n}.", "split": "test" if n < 4 else "train"} for n in range(8)]
    first = find_week(tmp_path, *lines)
    files = [record.path for record in first.run.stages["articles"].in_order]
    pinned = first.run.stage(
        Recipe(schemas.ARTICLES, only_tested), shards=1, inputs={"shards": every(first.run.stages["articles"])}
    )
    frozen = FrozenSplit("", 1, [pinned.in_order[0].path], [])
    save_frozen(first.run.store, frozen)

    again = find_week(tmp_path, *lines)
    assert [record.path for record in again.run.stages["articles"].in_order] == files  # nothing is computed again
    lines[0] |= {"title": "Renamed", "split": "train"}
    lines[1] |= {"split": "train"}
    lines[2] |= {"split": "valid", "lead": "Edited."}
    lines[4] |= {"title": "Renamed too", "split": "test"}
    lines[5] |= {"split": "test"}
    second = find_week(tmp_path, *lines)
    assert splits(second) == {
        "Renamed": ("train", "frozen_test_article"),
        "T1": ("train", "frozen_test_article"),
        "T2": ("valid", "frozen_test_article"),
        "T3": ("test", None),
        "Renamed too": ("test", None),
        "T5": ("test", None),
        "T6": ("train", None),
        "T7": ("train", None),
    }
    drops = [record.drops for record in second.run.stages["articles"].in_order]
    assert sum(counts.get("frozen_test_article", 0) for counts in drops) == 3
    assert read_frozen(second.run.store) == frozen


def paragraphs_of(*, articles: pa.Table) -> pa.Table:
    """Return a kept paragraph for each article."""
    rows = [{"article_id": id_, "paragraph_id": 0, "text": "x"} for id_ in articles["article_id"].to_pylist()]
    return pa.Table.from_pylist(rows, schemas.PARAGRAPHS.schema)


def judge_week(root: Path, number: int, *lines: dict[str, Any]) -> dict[str, list[str]]:
    """Find the articles of a week, register a version; return test split -> titles it is judged on."""
    session = find_week(root, *lines)
    run, store, label = session.run, session.run.store, f"2026-W{number:02d}"
    name = f"20260101-{number:06d}-{label}"
    articles = run.stages["articles"]
    texts = run.stage(Recipe(schemas.PARAGRAPHS, paragraphs_of), shards=3, inputs={"articles": same(articles)})
    weekly = session.config.retraining.model_copy(update={"week": label})
    session.config = session.config.model_copy(update={"retraining": weekly})
    judged = held_out_splits(session, corpus_of(articles, texts))
    files = {
        week: {name: part.in_order[0].path for name, part in vars(split).items()}
        for week, split in judged.recent.items()
    }
    named = {str(shard): record.path for shard, record in articles.records.items()}
    save_build(store, Build(name, "", {}, {"articles": named}, {}, {}))
    if number == 1:
        save_frozen(
            store, FrozenSplit(name, 1, *([r.path for r in part.in_order] for part in vars(judged.frozen).values()))
        )
    save_version(store, Version(number, "", label, name, None, {}, "", {}, {}, {}, recent=files))
    found = {
        week: only_tested(shards=every(split.articles).loading(0)(store))
        for week, split in {"frozen": judged.frozen, **judged.recent}.items()
    }
    return {week: sorted(table["title"].to_pylist()) for week, table in found.items()}


def test_what_comes_in_is_judged_on_until_it_rolls_out_and_is_not_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.stages.versions.RECENT_WEEKS", 2)

    def line(title: str, split: str = "test") -> dict[str, Any]:
        return {"title": title, "lead": f"Lead of {title}.", "split": split}

    old = [line("A"), line("B"), line("C", "train")]
    assert judge_week(tmp_path, 1, *old) == {"frozen": ["A", "B"]}
    second = [line("A"), line("B"), line("C"), line("D"), line("E", "train")]  # C was learned from
    assert judge_week(tmp_path, 2, *second) == {"frozen": ["A", "B"], "2026-W02": ["D"]}
    third = [*second[:3], line("D", "train"), line("F")]
    assert splits(find_week(tmp_path, *third))["D"] == ("train", "frozen_test_article")
    assert judge_week(tmp_path, 3, *third) == {"frozen": ["A", "B"], "2026-W02": ["D"], "2026-W03": ["F"]}
    fourth = [*third, line("G")]
    assert judge_week(tmp_path, 4, *fourth) == {"frozen": ["A", "B"], "2026-W03": ["F"], "2026-W04": ["G"]}
    assert splits(find_week(tmp_path, *fourth))["D"] == ("train", None)  # it has rolled out
    Store(str(tmp_path)).delete("builds/20260101-000004-2026-W04.json")
    assert judge_week(tmp_path, 5, *fourth, line("H")) == {"frozen": ["A", "B"], "2026-W04": ["G"]}


def only_tested(*, shards: Any) -> pa.Table:
    """Return the articles of the test split."""
    table = pa.concat_tables(table for (table,) in shards)
    return table.filter(pc.equal(table["split"], "test")).sort_by("article_id").combine_chunks()


def test_a_week_asks_for_pages_again_and_for_nothing_else(tmp_path: Path) -> None:
    archive = tmp_path / "pages.warc"
    archive.touch()
    settings = config(crawl={"archive": [str(archive)], "fetch_missing": True})
    week = settings.model_copy(update={"crawl": settings.crawl.model_copy(update={"refresh": "2026-W47"})})
    _, before = walked(settings, dag.corpus, tmp_path)
    _, after = walked(week, dag.corpus, tmp_path)
    known = {job.key for job in before}
    first = [job.stage for job in after if job.key not in known]
    assert set(first) >= {"pages"}
    assert {"captures"} <= {job.stage for job in after}
    assert not {"intake", "articles", "search", "frontier", "captures"} & set(first)


def test_a_run_that_lasts_into_another_week_stays_that_of_its_own(tmp_path: Path) -> None:
    session = planning_session(config(root=str(tmp_path)))
    session.once(challenge)
    assert "kept_out_articles" in session.run.stages
    settings = session.config.retraining
    assert settings.week is not None
    assert session.config.crawl.refresh == settings.week == settings.period


def test_a_week_that_no_year_has_is_refused() -> None:
    for week in ("2026-W00", "2026-W54", "2026-47"):
        with pytest.raises(ValueError, match=r"retraining\.week"):
            config(retraining={"week": week})


def test_an_imported_corpus_is_not_retrained_on(tmp_path: Path) -> None:
    given = config(root=str(tmp_path), imported={"folder": "ranked", "vocabulary": "spm.model"})
    with pytest.raises(ValueError, match=r"imported\.folder is 'ranked': expected a corpus of your own"):
        planning_session(given).once(challenge)


def test_a_metric_that_is_not_scored_decides_nothing(tmp_path: Path) -> None:
    given = config(root=str(tmp_path), scoring={"metrics": ["rouge1", "rouge2"]}, report={"headline": "rouge1"})
    with pytest.raises(ValueError, match=r"retraining\.metric is 'values': expected one of .*, rouge1, rouge2"):
        planning_session(given).once(challenge)


def test_pruning_waits_for_a_run_and_says_what_it_would_do(tmp_path: Path) -> None:
    take_stock(Store(str(tmp_path)))
    call = [sys.executable, "-m", "flows", "prune", "--root", str(tmp_path), "--keep", "2", "--dry-run"]
    done = subprocess.run(call, cwd=PROJECT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "would prune 0 files, 0 bytes\nkept 0 bytes: builds none; versions none\n"
    with root_lock(Store(str(tmp_path))), pytest.raises(RootBusyError, match="another build is running"):
        prune.fn(str(tmp_path), 2, dry_run=True)


def test_a_build_is_pinned_by_name(tmp_path: Path) -> None:
    store, names = Store(str(tmp_path)), [f"20260101-00000{number}-abcdef" for number in range(3)]
    for name in names:
        save_build(store, Build(name, "", {}, {"articles": {"0": name}}, {}, {}))
    kept = f"kept 0 bytes: builds {names[0]}, {names[2]}; versions none\npinned: {names[0]}"
    assert re.sub(r"[\d,]+ bytes", "0 bytes", prune.fn(str(tmp_path), 1, dry_run=False, pin=names[:1])).endswith(kept)
    assert build_names(store) == [names[0], names[2]]
    with pytest.raises(ValueError, match="a dry run changes no pins"):
        prune.fn(str(tmp_path), 1, dry_run=True, unpin=names[:1])
    assert "pinned" not in prune.fn(str(tmp_path), 1, dry_run=False, unpin=names[:1])
    assert build_names(store) == names[2:]


def test_a_week_is_planned_once_and_never_beside_another() -> None:
    written = yaml.safe_load((PROJECT / "prefect.yaml").read_text())
    (retrain,) = [one for one in written["deployments"] if one["name"] == "retrain"]
    (schedule,) = retrain["schedules"]
    weekly = CronSchedule(cron=schedule["cron"], timezone=schedule["timezone"])
    assert (weekly.cron, weekly.timezone) == ("0 3 * * 1", "Etc/UTC")  # Mondays at 3
    limit = ConcurrencyLimitConfig.model_validate(retrain["concurrency_limit"])
    assert (limit.limit, limit.collision_strategy.value) == (1, "CANCEL_NEW")
