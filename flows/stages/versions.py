"""The models of a version: trained further from those of an earlier version where these fit, and judged."""

from collections.abc import Mapping
from dataclasses import dataclass

from flows.config import BuildConfig
from flows.running.session import Session
from flows.stages import evaluation, ranking, results, texts, training
from flows.stages.texts import Corpus
from models.tokenization.contract import TextForm
from tasks.engine.recipe import DirectoryResult
from tasks.retraining.splits import EvaluatedVersion, HeldOutSplits
from tasks.retraining.warm_start import (
    PREDICTOR,
    RANKER,
    RANKER_GAIN,
    SUMMARIZER,
    VersionModels,
    better_ranker,
    ranker_fits,
    summarizer_fits,
    summarizer_form,
    warm_ranker,
    warm_training,
)


@dataclass(frozen=True)
class TrainedModels:
    """What a version summarizes with."""

    vocabulary: results.VocabularyTable  # of its summarizer
    ranker: results.RankerModel  # its ranker
    summarizer: results.SummarizerModel  # its summarizer
    predictor: results.PredictorModel | None  # of the summarizer's attention; None if it has none
    form: TextForm  # in which the summarizer reads text

    @property
    def by_name(self) -> Mapping[str, DirectoryResult]:
        """Name -> model, as the registry has them."""
        models: dict[str, DirectoryResult] = {RANKER: self.ranker, SUMMARIZER: self.summarizer}
        return models if self.predictor is None else {**models, PREDICTOR: self.predictor}


def registered(version: VersionModels) -> TrainedModels:
    """Return the models of a version in the registry."""
    predictor = version.models.get(PREDICTOR)
    return TrainedModels(
        results.VocabularyTable(version.vocabulary),
        results.RankerModel(version.models[RANKER]),
        results.SummarizerModel(version.models[SUMMARIZER]),
        None if predictor is None else results.PredictorModel(predictor),
        summarizer_form(version.version),
    )


def train_challenger(session: Session, corpus: Corpus, start: VersionModels | None) -> TrainedModels:
    """Train both models from those of `start`, each from scratch where that of `start` does not fit."""
    config, vocabulary = session.config, corpus.vocabulary
    ranker = _ranker(session, corpus, start)
    ranked = ranking.ranked(session, corpus, ranker)
    ranking.scores(session, corpus, ranked)  # for people: no stage reads them
    graphs = training.graphs(session, ranked) if config.summarizer.graph != "none" else None
    examples = training.examples(session, corpus.articles, ranked, vocabulary, form=config.summarizer.form)
    summarizer = _summarizer(session, graphs, examples, vocabulary, start)
    predictor = None
    if config.decoding.guidance.reads_predictor:
        predictor = training.attention(session, graphs, examples, summarizer)
    return TrainedModels(vocabulary, ranker, summarizer, predictor, config.summarizer.form)


def _ranker(session: Session, corpus: Corpus, start: VersionModels | None) -> results.RankerModel:
    """Train the ranker further, and use the result if it is better."""
    settings, retraining = session.config.ranker, session.config.retraining
    if start is None or not ranker_fits(start.version, settings):
        return ranking.ranker(session, corpus)
    before = registered(start).ranker
    trained = ranking.ranker(session, corpus, warm_ranker(settings, retraining), before)
    return results.RankerModel(session.run.use(better_ranker(trained, start=before, gain=RANKER_GAIN)))


def _summarizer(
    session: Session,
    graphs: results.Graphs | None,
    examples: results.Examples,
    vocabulary: results.VocabularyTable,
    start: VersionModels | None,
) -> results.SummarizerModel:
    if start is None or not summarizer_fits(start.version, session.config.summarizer):
        extractor = training.extractor(session, examples, vocabulary)
        return training.summarizer(session, graphs, examples, vocabulary, extractor=extractor)
    how, before = warm_training(session.config.training, session.config.retraining), registered(start).summarizer
    return training.summarizer(session, graphs, examples, vocabulary, training=how, initial=before)


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
    corpus = Corpus(articles, paragraphs, features, vocabulary)
    ranked = ranking.ranked(session, corpus, models.ranker, f"{name}_ranked")
    graphs = training.graphs(session, ranked, f"{name}_graphs")
    examples = training.examples(session, articles, ranked, vocabulary, f"{name}_examples", form=models.form)
    predictions = evaluation.predictions(
        session,
        graphs,
        examples,
        ranked,
        models.summarizer,
        models.predictor if session.config.decoding.guidance.reads_predictor else None,
        name=f"{name}_predictions",
        progress=f"decoding-{name}",
    )
    scores = evaluation.scores(session, corpus, ranked, predictions, f"{name}_scores", facts=False)
    return EvaluatedVersion(vocabulary=vocabulary, models=models.by_name, predictions=predictions, scores=scores)
