"""Evaluate a version's models on the test splits: the stages of any build, on other articles."""

from flows.config import BuildConfig
from flows.running.session import Session
from flows.stages import evaluation, ranking, texts
from flows.stages.examples import examples, graphs
from tasks.engine.inputs import DirectoryResult, StageResult
from tasks.retraining.judged import Judged
from tasks.retraining.splits import JudgedOn
from tasks.retraining.warm_start import PREDICTOR, RANKER, SUMMARIZER


def check_deciding(config: BuildConfig) -> None:
    """Check that the metrics that decide between versions are scored.

    Raises:
        ValueError: one is not.
    """
    guards = (("guards", guard) for guard in config.retraining.guards)
    for name, metric in [("metric", config.retraining.metric), *guards]:
        if metric not in config.scoring.metrics:
            scored = ", ".join(config.scoring.metrics)
            raise ValueError(f"retraining.{name} is {metric!r}: expected one of scoring.metrics, {scored}")


def judge(
    session: Session,
    name: str,
    splits: JudgedOn,
    vocabulary: StageResult,
    models: dict[str, DirectoryResult],
    *,
    sentences: bool = False,
) -> Judged:
    """Summarize and score both test splits with a version's models, under this run's settings of the stages.

    `sentences` says whether the version's summarizer reads sentences (Hie-BART).
    """
    articles, paragraphs = splits.articles, splits.paragraphs
    features = texts.features(session, articles, paragraphs, "frozen_features")
    corpus = texts.Corpus(articles, paragraphs, features, vocabulary)
    ranked = ranking.ranked(session, corpus, models[RANKER], f"{name}_ranked")
    drawn = graphs(session, ranked, f"{name}_graphs")
    token_ids = examples(session, articles, ranked, vocabulary, f"{name}_examples", sentences=sentences)
    predictor = models[PREDICTOR] if session.config.decoding.guidance.reads_predictor else None
    predictions = evaluation.predictions(
        session,
        drawn,
        token_ids,
        ranked,
        models[SUMMARIZER],
        predictor,
        name=f"{name}_predictions",
        progress=f"decoding-{name}",
    )
    scores = evaluation.scores(session, corpus, ranked, predictions, f"{name}_scores", facts=False)
    return Judged(vocabulary, models, predictions, scores)
