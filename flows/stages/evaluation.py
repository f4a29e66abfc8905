"""Summaries of the test articles and their scores (Liu & Lapata 2019, sec. 5)."""

from flows.running.session import Session
from flows.stages.texts import Corpus
from storage import schemas
from tasks.engine.inputs import DirectoryResult, Input, StageResult, contents, same
from tasks.engine.progress import ProgressLog
from tasks.engine.recipe import Recipe
from tasks.evaluation.baselines import predict_baselines
from tasks.evaluation.scoring import score_predictions
from tasks.sources.miniweb import MiniwebSettings
from tasks.summarization.decoding import DecodingSettings, decode_shard


def baselines(session: Session, articles: StageResult, ranked: StageResult) -> StageResult:
    """Summarize the test articles with the systems without training."""
    return session.run.stage(
        Recipe(schemas.PREDICTIONS, predict_baselines, settings=session.config.baselines),
        shards=len(ranked.shards),
        inputs={"articles": same(articles), "ranked": same(ranked)},
        name="baselines",
    )


def predictions(
    session: Session,
    graphs: StageResult | None,
    examples: StageResult,
    ranked: StageResult,
    summarizer: DirectoryResult,
    predictor: DirectoryResult | None,
    *,
    settings: DecodingSettings | None = None,
    system: str | None = None,
    name: str = "predictions",
    progress: str = "decoding",
) -> StageResult:
    """Summarize the test articles with a trained model.

    Args:
        session: the session, whose configuration is the default of `settings`.
        graphs: graphs of the examples; None if the model reads none.
        examples: input of the model.
        ranked: the paragraphs of the examples, whose scores some settings read.
        summarizer: the model.
        predictor: predictor of its attention; None if the settings need none.
        settings: how to decode.
        system: its name in tables; None = its preset.
        name: name of the stage.
        progress: name of the progress artifact.
    """
    settings = settings or session.config.decoding
    inputs: dict[str, Input] = {"examples": same(examples), "directory": contents(summarizer)}
    if graphs is not None:
        inputs["graphs"] = same(graphs)
    if predictor is not None:
        inputs["predictor"] = contents(predictor)
    if settings.guidance.reads_scores:
        inputs["ranked"] = same(ranked)
    return session.run.stage(
        Recipe(
            schemas.PREDICTIONS, decode_shard, settings=settings, arguments={} if system is None else {"system": system}
        ),
        shards=len(examples.shards),
        inputs=inputs,
        context={"progress": ProgressLog(progress)},
        name=name,
    )


def scores(
    session: Session,
    corpus: Corpus,
    ranked: StageResult,
    predictions: StageResult,
    name: str,
    world: MiniwebSettings | None = None,
) -> StageResult:
    """Score every summary; if the corpus is a mini web, also by the facts of its `world`."""
    return session.run.stage(
        Recipe(
            schemas.SCORES,
            score_predictions,
            settings=session.config.scoring,
            arguments={} if world is None else {"world": world},
        ),
        shards=len(predictions.shards),
        inputs={
            "articles": same(corpus.articles),
            "predictions": same(predictions),
            "ranked": same(ranked),
            "paragraphs": same(corpus.paragraphs),
        },
        name=name,
    )
