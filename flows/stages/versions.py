"""The models of a version, trained further from earlier ones where these fit, and judged on two test splits."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from flows.config import BuildConfig
from flows.running.session import Session
from flows.stages import evaluation, ranking, results, texts, training
from flows.stages.texts import CorpusStages
from models.tokenization.contract import TextForm
from storage import schemas
from storage.builds import SUMMARIZER, read_build
from storage.errors import StorageError
from storage.registry import Version, newest_version, read_frozen
from tasks.engine.recipe import DirectoryResult, Input, Recipe, StageResult, every, same
from tasks.retraining import warm_start
from tasks.retraining.settings import RECENT_WEEKS
from tasks.retraining.splits import EvaluatedVersion, HeldOutSplits, TestSplit, joined

_log = logging.getLogger(__name__)
_TEST_SHARDS = 8  # of the frozen test split, at most
_RECENT_ARTICLES = 2_000  # of the second test split, at most; each week brings its share


def earlier_test_articles(session: Session) -> results.Articles:
    """Return the test articles that earlier weeks fixed; none before the first champion."""
    store = session.run.store
    frozen, before = read_frozen(store), newest_version(store)
    articles = StageResult(schemas.ARTICLES.name, range(0), {})
    if frozen is not None:
        articles = warm_start.frozen_stages(store, frozen, session.config.seed)[0]
    return results.Articles(joined(articles, *(split.articles for split in _carried(session, before).values())))


def held_out_splits(session: Session, corpus: CorpusStages) -> HeldOutSplits:
    """Return the frozen test split and, after the first week, the recent one with this week's new articles."""
    frozen, before = freeze(session, corpus), newest_version(session.run.store)
    recent = _carried(session, before)
    new_split = None if before is None else _new_split(session, corpus, before, HeldOutSplits(frozen, recent))
    return HeldOutSplits(
        frozen, recent if new_split is None else {**recent, session.config.retraining.period: new_split}
    )


def freeze(session: Session, corpus: CorpusStages) -> TestSplit:
    """Return the frozen test split: the fixed one, or a first copy. Raises ValueError: no article can be frozen."""
    frozen = read_frozen(session.run.store)
    if frozen is not None:
        return TestSplit(*warm_start.frozen_stages(session.run.store, frozen, session.config.seed))
    chosen = session.config.retraining
    count = min(_TEST_SHARDS, session.config.shards.articles)
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
    weeks, store = {} if before is None else before.recent, session.run.store
    return {
        week: TestSplit(*(warm_start.pinned(store, stage, [files[stage]]) for stage in ("articles", "paragraphs")))
        for week, files in list(weeks.items())[1 - RECENT_WEEKS :]
    }


def _new_split(session: Session, corpus: CorpusStages, before: Version, fixed: HeldOutSplits) -> TestSplit | None:
    """Fix the test articles that have come in since a version; None if the version's articles are missing."""
    store = session.run.store
    try:
        files = read_build(store, before.build).stages["articles"]
        earlier = warm_start.pinned(store, "articles", [files[shard] for shard in sorted(files, key=int)])
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


@dataclass(frozen=True)
class TrainedModels:
    """What a version summarizes with."""

    vocabulary: results.VocabularyTable  # of its summarizer
    models: Mapping[str, DirectoryResult]  # by name, as the registry has them: ranker, summarizer, perhaps predictor
    form: TextForm  # in which the summarizer reads text


def registered(version: warm_start.VersionModels) -> TrainedModels:
    """Return the models of a version in the registry."""
    form = warm_start.summarizer_form(version.version)
    return TrainedModels(results.VocabularyTable(version.vocabulary), version.models, form)


def train_challenger(session: Session, corpus: CorpusStages, start: warm_start.VersionModels | None) -> TrainedModels:
    """Train both models from those of `start`, each from scratch where that of `start` does not fit."""
    config, vocabulary = session.config, corpus.vocabulary
    ranker = _ranker(session, corpus, start)
    ranked = ranking.ranked(session, corpus, ranker)
    ranking.scores(session, corpus, ranked)  # for people: no stage reads them
    graphs = training.graphs(session, ranked) if config.summarizer.graph != "none" else None
    examples = training.examples(session, corpus.articles, ranked, vocabulary, form=config.summarizer.form)
    read = training.Read(graphs, examples, vocabulary)
    summarizer = _summarizer(session, read, start)
    models: dict[str, DirectoryResult] = {warm_start.RANKER: ranker, SUMMARIZER: summarizer}
    if config.decoding.guidance.reads_predictor:
        models[warm_start.PREDICTOR] = training.attention(session, read, summarizer)
    return TrainedModels(vocabulary, models, config.summarizer.form)


def _ranker(session: Session, corpus: CorpusStages, start: warm_start.VersionModels | None) -> results.RankerModel:
    """Train the ranker further, and use the result if it is better."""
    settings, retraining = session.config.ranker, session.config.retraining
    if start is None or not warm_start.ranker_fits(start.version, settings):
        return ranking.ranker(session, corpus)
    before = results.RankerModel(start.models[warm_start.RANKER])
    trained = ranking.ranker(session, corpus, warm_start.warm_ranker(settings, retraining), before)
    better = warm_start.better_ranker(trained, before, warm_start.RANKER_GAIN)
    return results.RankerModel(session.run.use(better))


def _summarizer(
    session: Session, read: training.Read, start: warm_start.VersionModels | None
) -> results.SummarizerModel:
    if start is None or not warm_start.summarizer_fits(start.version, session.config.summarizer):
        return training.summarizer(session, read, extractor=training.extractor(session, read))
    how = warm_start.warm_training(session.config.training, session.config.retraining)
    before = results.SummarizerModel(start.models[SUMMARIZER])
    return training.summarizer(session, read, training=how, initial=before)


def check_deciding(config: BuildConfig) -> None:
    """Check that the metrics that decide between versions are scored. Raises ValueError: one is not."""
    guards = (("guards", guard) for guard in config.retraining.guards)
    for name, metric in [("metric", config.retraining.metric), *guards]:
        if metric not in config.scoring.metrics:
            scored = ", ".join(config.scoring.metrics)
            raise ValueError(f"retraining.{name} is {metric!r}: expected one of scoring.metrics, {scored}")


def judge(session: Session, name: str, splits: HeldOutSplits, models: TrainedModels) -> EvaluatedVersion:
    """Summarize and score both test splits with a version's models, under this run's settings of the stages."""
    articles, paragraphs = results.Articles(splits.articles), results.Compared(splits.paragraphs)
    vocabulary = models.vocabulary
    features = texts.features(session, articles, paragraphs, "frozen_features")
    corpus = CorpusStages(articles, paragraphs, features, vocabulary)
    ranker, summarizer = (models.models[name] for name in (warm_start.RANKER, SUMMARIZER))
    predictor = models.models[warm_start.PREDICTOR] if session.config.decoding.guidance.reads_predictor else None
    ranked = ranking.ranked(session, corpus, results.RankerModel(ranker), f"{name}_ranked")
    graphs = training.graphs(session, ranked, f"{name}_graphs")
    examples = training.examples(session, articles, ranked, vocabulary, f"{name}_examples", form=models.form)
    predictions = evaluation.predictions(
        session,
        training.Read(graphs, examples, vocabulary),
        ranked,
        results.SummarizerModel(summarizer),
        None if predictor is None else results.PredictorModel(predictor),
        name=f"{name}_predictions",
        progress=f"decoding-{name}",
    )
    scores = evaluation.scores(session, corpus, ranked, predictions, f"{name}_scores", facts=False)
    return EvaluatedVersion(vocabulary=vocabulary, models=models.models, predictions=predictions, scores=scores)
