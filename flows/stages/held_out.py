"""The test splits on which versions are judged: the frozen one, fixed once, and the recent one, which grows weekly."""

import logging

from flows.running.session import Session
from flows.stages.results import Articles
from flows.stages.texts import Corpus
from storage import schemas
from storage.builds import read_build
from storage.errors import StorageError
from storage.registry import Version, newest_version, read_frozen
from tasks.engine.recipe import Input, Recipe, StageResult, every, same
from tasks.retraining.settings import RECENT_WEEKS
from tasks.retraining.splits import HeldOutSplits, TestSplit, joined
from tasks.retraining.warm_start import frozen_stages, pinned

_log = logging.getLogger(__name__)
_RECENT_ARTICLES = 2_000  # of the second test split, at most; each week brings its share


def earlier_test_articles(session: Session) -> Articles:
    """Return the test articles that earlier weeks fixed; none before the first champion."""
    store = session.run.store
    frozen, before = read_frozen(store), newest_version(store)
    articles = StageResult(schemas.ARTICLES.name, range(0), {})
    if frozen is not None:
        articles = frozen_stages(store, frozen, session.config.seed)[0]
    return Articles(joined(articles, *(split.articles for split in _carried(session, before).values())))


def held_out_splits(session: Session, corpus: Corpus) -> HeldOutSplits:
    """Return the frozen test split and, after the first week, the recent one with this week's new articles."""
    frozen, before = freeze(session, corpus), newest_version(session.run.store)
    recent = _carried(session, before)
    new_split = None if before is None else _new_split(session, corpus, before, HeldOutSplits(frozen, recent))
    return HeldOutSplits(
        frozen, recent if new_split is None else {**recent, session.config.retraining.period: new_split}
    )


def freeze(session: Session, corpus: Corpus) -> TestSplit:
    """Return the frozen test split: the fixed one, or a first copy. Raises ValueError: no article can be frozen."""
    frozen = read_frozen(session.run.store)
    if frozen is not None:
        return TestSplit(*frozen_stages(session.run.store, frozen, session.config.seed))
    chosen = session.config.retraining
    count = min(chosen.test_shards, session.config.shards.articles)
    shards: dict[str, Input] = {"shards": every(corpus.articles, corpus.paragraphs)}
    arguments = {"of": count, "articles": chosen.test_articles, "seed": session.config.seed}
    function, per_shard = "tasks.retraining.splits:freeze_articles", {"shard": range(count)}
    recipe = Recipe(schemas.ARTICLES, function, arguments=arguments, per_shard=per_shard)
    inputs = {**shards, "corpus": every(corpus.articles)}
    articles = session.run.stage(recipe, shards=count, inputs=inputs, name="frozen_articles")
    if not session.run.planning and not any(record.written.rows for record in articles.in_order):
        raise ValueError(
            "the corpus has no test article with a candidate paragraph: expected at least one, on which the models of "
            "all weeks are judged"
        )
    function, inputs = "tasks.retraining.splits:freeze_paragraphs", {"articles": same(articles), **shards}
    recipe = Recipe(schemas.PARAGRAPHS, function, arguments={"of": count}, per_shard=per_shard)
    paragraphs = session.run.stage(recipe, shards=count, inputs=inputs, name="frozen_paragraphs")
    return TestSplit(articles=articles, paragraphs=paragraphs)


def _carried(session: Session, before: Version | None) -> dict[str, TestSplit]:
    """Return the weeks that remain in the recent split, oldest first."""
    weeks = {} if before is None else before.recent
    store, stay = session.run.store, RECENT_WEEKS - 1
    return {
        week: TestSplit(*(pinned(store, stage, [files[stage]]) for stage in ("articles", "paragraphs")))
        for week, files in list(weeks.items())[len(weeks) - min(stay, len(weeks)) :]
    }


def _new_split(session: Session, corpus: Corpus, before: Version, fixed: HeldOutSplits) -> TestSplit | None:
    """Fix the test articles that have come in since a version; None if the version's articles are missing."""
    store = session.run.store
    try:
        files = read_build(store, before.build).stages["articles"]
        earlier = pinned(store, "articles", [files[shard] for shard in sorted(files, key=int)])
    except (StorageError, KeyError) as error:
        _log.warning("the articles since version %d are unknown and not used for judging: %s", before.number, error)
        return None
    arguments = {"articles": max(1, _RECENT_ARTICLES // RECENT_WEEKS), "seed": session.config.seed}
    recipe = Recipe(schemas.ARTICLES, "tasks.retraining.splits:new_articles", arguments=arguments)
    inputs = {"now": every(corpus.articles), "before": every(earlier), "known": every(fixed.articles)}
    articles = session.run.stage(recipe, shards=1, inputs=inputs, name="recent_articles")
    recipe = Recipe(schemas.PARAGRAPHS, "tasks.retraining.splits:new_paragraphs")
    inputs = {"articles": same(articles), "shards": every(corpus.paragraphs)}
    paragraphs = session.run.stage(recipe, shards=1, inputs=inputs, name="recent_paragraphs")
    return TestSplit(articles=articles, paragraphs=paragraphs)
