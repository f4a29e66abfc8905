"""The wiring of retraining: what starts from the champion, what stays frozen, and the commands beside it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from prefect.client.schemas.objects import ConcurrencyLimitConfig
from prefect.client.schemas.schedules import CronSchedule

from flows.config import BuildConfig
from flows.corpus import Corpus, corpus, vocabulary
from flows.judging import freeze, judge
from flows.prune import prune_root
from flows.retrain import challenge, new_ranker, new_summarizer
from flows.session import Session, planning_session
from flows.train import ranker, summarizer
from storage import schemas
from storage.directories import DirectoryRecord
from storage.errors import RootBusyError
from storage.lock import root_lock
from storage.recipes import ShardRecord
from storage.registry import Version
from storage.store import Store, WrittenTable
from tasks.inputs import DirectoryResult, StageResult
from tasks.retraining.outcome import Judged
from tasks.retraining.warm_start import RANKER, SUMMARIZER, ChampionModels
from tasks.shard import Job
from tasks.stage import InlineExecutor, Run
from tests.flows.recording import walked

PROJECT = Path(__file__).parents[2]


def config(**given: Any) -> BuildConfig:
    retraining = {"ranker_steps": 11, "summarizer_steps": 13, "warmup": 3, "test_shards": 2, "test_articles": 40}
    return BuildConfig.model_validate(
        {"shards": {"articles": 3}, "retraining": {**retraining, **given.pop("retraining", {})}, **given}
    )


def champion(settings: BuildConfig) -> ChampionModels:
    models = {name: DirectoryResult(name, DirectoryRecord(name, "old", {}, f"digest of {name}", {}, {}, {}, 0.0))
              for name in (RANKER, SUMMARIZER)}  # fmt: skip
    version = Version(1, "", "", "", None, {}, "", settings.model_dump(mode="json"), {}, {})
    written = WrittenTable(1, 1, "", "digest of the vocabulary")
    words = ShardRecord("vocabulary", 0, "old", written, {}, {}, {}, 1, 0.0, 0)
    return ChampionModels(version, StageResult("vocabulary", range(1), {0: words}), models)


def models(session: Session, start: ChampionModels | None) -> None:
    """What `challenge` does before it judges."""
    if start is not None:
        session.give(vocabulary, start.vocabulary)
    session.give(ranker, new_ranker(session, start))
    session.give(summarizer, new_summarizer(session, start))


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
        recipe = job.recipe()
        assert recipe.get("steps", recipe.get("training", {}).get("steps")) == steps
    assert session.run.directories[RANKER].record.key == made(jobs, RANKER).key  # type: ignore[union-attr]


def test_a_ranker_that_gains_too_little_leaves_the_champions_in_place(tmp_path: Path) -> None:
    settings = config(retraining={"ranker_gain": 0.6})  # the recorded ranker saves half of the loss above the floor
    session, jobs = walked(settings, lambda session: models(session, champion(settings)), tmp_path)
    assert session.run.directories[RANKER].record.key == "old"  # type: ignore[union-attr]
    assert {tuple(job.digests["ranker_directory"]) for job in jobs if job.stage == "ranked"} == {
        (f"digest of {RANKER}",)
    }


def test_without_a_champion_and_where_none_fits_models_are_trained_afresh(tmp_path: Path) -> None:
    settings = config()
    _, first = walked(settings, lambda session: models(session, None), tmp_path)
    _, plain = walked(settings, summarizer, tmp_path)
    assert {job.key for job in plain} <= {job.key for job in first}
    assert {job.stage for job in first} - {job.stage for job in plain} == {"ranking_scores"}
    other = champion(config(ranker={"hidden": 8}, summarizer={"preset": "ft-small", "graph": "none"}))
    _, jobs = walked(settings, lambda session: models(session, other), tmp_path)
    assert "initial" not in {**made(jobs, RANKER).digests, **made(jobs, SUMMARIZER).digests}


def test_the_frozen_split_is_judged_shard_by_shard(tmp_path: Path) -> None:
    def wiring(session: Session) -> Judged:
        models(session, None)
        parts = {RANKER: session.once(ranker), SUMMARIZER: session.once(summarizer)}
        return judge(session, "challenger", freeze(session), session.once(corpus).vocabulary, parts)

    session, jobs = walked(config(), wiring, tmp_path)
    stages = ("frozen_articles", "frozen_paragraphs", "frozen_features", "challenger_ranked", "challenger_graphs",
              "challenger_examples", "challenger_predictions", "challenger_scores")  # fmt: skip
    assert {stage: len(session.run.stages[stage].shards) for stage in stages} == dict.fromkeys(stages, 2)
    frozen = [job for job in jobs if job.stage == "articles" and "of" in job.arguments]
    assert [(job.arguments["shard"], job.arguments["of"], job.arguments["articles"]) for job in frozen] == [
        (0, 2, 40), (1, 2, 40),
    ]  # fmt: skip


def no_articles() -> pa.Table:
    return schemas.ARTICLES.schema.empty_table()


def no_paragraphs() -> pa.Table:
    return schemas.PARAGRAPHS.schema.empty_table()


def test_no_version_is_judged_on_nothing(tmp_path: Path) -> None:
    executor = InlineExecutor()
    session = Session(config(), executor, Run(Store(str(tmp_path)), executor))  # type: ignore[arg-type]
    articles = session.run.stage(schemas.ARTICLES, no_articles, shards=1, inputs={})
    paragraphs = session.run.stage(schemas.PARAGRAPHS, no_paragraphs, shards=1, inputs={})
    session.give(corpus, Corpus(articles, paragraphs, articles, articles))
    with pytest.raises(ValueError, match="the corpus has no test article with a candidate paragraph"):
        freeze(session)


def test_a_week_asks_for_pages_again_and_for_nothing_else(tmp_path: Path) -> None:
    archive = tmp_path / "pages.warc"
    archive.touch()
    settings = config(crawl={"archive": [str(archive)], "fetch_missing": True})
    week = settings.model_copy(update={"crawl": settings.crawl.model_copy(update={"refresh": "2026-W47"})})
    _, before = walked(settings, corpus, tmp_path)
    _, after = walked(week, corpus, tmp_path)
    known = {job.key for job in before}
    first = [job.stage for job in after if job.key not in known]
    assert set(first) >= {"pages"}
    assert {"captures"} <= {job.stage for job in after}
    assert not {"intake", "articles", "search", "frontier", "captures"} & set(first)


def test_a_run_that_lasts_into_another_week_stays_that_of_its_own(tmp_path: Path) -> None:
    session = planning_session(config(root=str(tmp_path)))
    session.once(challenge)
    settings = session.config.retraining
    assert settings.week is not None
    assert session.config.crawl.refresh == settings.week == settings.period


def test_a_week_that_no_year_has_is_refused() -> None:
    for week in ("2026-W00", "2026-W54", "2026-47"):
        with pytest.raises(ValueError, match=r"retraining\.week"):
            config(retraining={"week": week})


def test_an_imported_corpus_is_not_retrained_on(tmp_path: Path) -> None:
    given = config(root=str(tmp_path), imported={"folder": "ranked", "vocabulary": "spm.model"})
    with pytest.raises(ValueError, match=r"imported\.folder is 'ranked': expected a corpus of one's own"):
        planning_session(given).once(challenge)


def test_a_metric_that_is_not_scored_decides_nothing(tmp_path: Path) -> None:
    given = config(root=str(tmp_path), scoring={"metrics": ["rouge1", "rouge2"]})
    with pytest.raises(ValueError, match=r"retraining\.metric is 'rougeL': expected one of .*, rouge1, rouge2"):
        planning_session(given).once(challenge)


def test_pruning_waits_for_a_run_and_says_what_it_would_do(tmp_path: Path) -> None:
    call = [sys.executable, "-m", "flows.prune", "--root", str(tmp_path), "--keep", "2", "--dry-run"]
    done = subprocess.run(call, cwd=PROJECT, capture_output=True, text=True, timeout=250, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "would prune 0 files, 0 bytes\nkept 0 bytes: builds none; versions none\n"
    with root_lock(Store(str(tmp_path))), pytest.raises(RootBusyError, match="another build is running"):
        prune_root(str(tmp_path), 2, dry_run=True)


def test_a_week_is_planned_once_and_never_beside_another() -> None:
    written = yaml.safe_load((PROJECT / "prefect.yaml").read_text())
    (retrain,) = [one for one in written["deployments"] if one["name"] == "retrain"]
    (schedule,) = retrain["schedules"]
    weekly = CronSchedule(cron=schedule["cron"], timezone=schedule["timezone"])
    assert (weekly.cron, weekly.timezone) == ("0 3 * * 1", "Etc/UTC")  # Mondays at 3
    limit = ConcurrencyLimitConfig.model_validate(retrain["concurrency_limit"])
    assert (limit.limit, limit.collision_strategy.value) == (1, "CANCEL_NEW")
