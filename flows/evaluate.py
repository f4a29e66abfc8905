"""Decode the test split with every system, score it, and write the report (000 sec. 5)."""

from dataclasses import dataclass

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.running.notification import notify
from flows.running.session import Session, walk_flow
from flows.stages.corpus import corpus
from flows.stages.intake import check_splits, find_articles
from flows.stages.ranking import ranked, ranker
from flows.train import attention, summarizer
from storage import schemas
from tasks.engine.inputs import DirectoryResult, Input, StageResult, contents, every, same
from tasks.engine.progress import ProgressLog
from tasks.evaluation.baselines import predict_baselines
from tasks.evaluation.scoring import score_predictions
from tasks.reporting.publishing import publish_report, summarise
from tasks.reporting.report import write_report
from tasks.summarization.decoding import DecodingSettings, decode_shard


@dataclass(frozen=True)
class Evaluation:
    """Summaries of the test split and their scores."""

    baselines: StageResult
    summaries: StageResult
    baseline_scores: StageResult
    scores: StageResult


@flow(name="evaluate", flow_run_name="evaluate-{config.preset}", on_failure=[notify], on_crashed=[notify])
def evaluate(config: BuildConfig = DEFAULT) -> str:
    """Decode, score, report and publish the report, building what is missing before that.

    Returns:
        The score table and the path of the report, as text.
    """
    return walk_flow(config, published)


def evaluation(session: Session) -> Evaluation:
    """Summarize the test articles with the baselines and the trained model, and score every summary."""
    config, made = session.config, session.once(ranked)
    baselines, baseline_scores = session.once(baseline)
    graphs = made.graphs if config.summarizer.graph != "none" else None
    predictor = session.once(attention) if config.decoding.guidance.reads_predictor else None
    summaries = decode(
        session, "predictions", session.once(summarizer), config.decoding, made.examples, graphs, predictor=predictor
    )
    return Evaluation(baselines, summaries, baseline_scores, score(session, "scores", summaries))


def baseline(session: Session) -> tuple[StageResult, StageResult]:
    """Summarize the test articles with the systems that need no training; return predictions and scores."""
    config, built, made = session.config, session.once(corpus), session.once(ranked)
    predictions = session.run.stage(
        schemas.PREDICTIONS,
        predict_baselines,
        shards=len(made.ranked.shards),
        inputs={"articles": same(built.articles), "ranked": same(made.ranked)},
        settings=config.baselines,
        name="baselines",
    )
    return predictions, score(session, "baseline_scores", predictions)


def decode(
    session: Session,
    name: str,
    model: DirectoryResult,
    settings: DecodingSettings,
    examples: StageResult,
    graphs: StageResult | None,
    system: str | None = None,
    predictor: DirectoryResult | None = None,
) -> StageResult:
    """Summarize the test articles with a trained model, which tables call `system`, or by its preset."""
    read: dict[str, Input] = {"examples": same(examples)}
    if graphs is not None:
        read["graphs"] = same(graphs)
    if predictor is not None:
        read["predictor"] = contents(predictor)
    if settings.guidance.reads_scores:
        read["ranked"] = same(session.once(ranked).ranked)
    return session.run.stage(
        schemas.PREDICTIONS,
        decode_shard,
        shards=len(examples.shards),
        inputs={**read, "directory": contents(model)},
        settings=settings,
        arguments=None if system is None else {"system": system},
        context={"progress": ProgressLog("decoding" if system is None else system)},
        name=name,
    )


def score(session: Session, name: str, predictions: StageResult) -> StageResult:
    """Score every summary."""
    return session.run.stage(
        schemas.SCORES,
        score_predictions,
        shards=len(predictions.shards),
        inputs={
            "articles": same(session.once(find_articles)),
            "predictions": same(predictions),
            "ranked": same(session.once(ranked).ranked),
            "paragraphs": same(session.once(corpus).paragraphs),
        },
        settings=session.config.scoring,
        arguments={"world": session.config.source.miniweb} if session.from_miniweb else None,
        name=name,
    )


def published(session: Session) -> str:
    """Write the report and keep its parts as artifacts; return its summary and path as text."""
    session.once(check_splits)
    made = session.once(report)
    return "" if session.run.planning else publish_report(session.run.store, made)


def report(session: Session) -> DirectoryResult:
    """Write the report and the artifacts."""
    config, built, made = session.config, session.once(corpus), session.once(ranked)
    judged = session.once(evaluation)
    counts = {name: summarise(result) for name, result in session.run.stages.items()}
    took = {name: {field: count.pop(field) for field in ("seconds", "peak_bytes")} for name, count in counts.items()}
    return session.run.directory(
        "reports",
        write_report,
        version=3,
        inputs={
            "scores": every(judged.baseline_scores, judged.scores, made.ranking_scores),
            "samples": every(built.articles, made.ranked, judged.baselines, judged.summaries, made.graphs),
            "texts": every(built.articles, built.paragraphs, built.features),
            **({} if config.imported else {"ranker": contents(session.once(ranker))}),
            "summarizer": contents(session.once(summarizer)),
        },
        settings=config.report,
        arguments={"counts": counts, "config": config, "seed": config.seed},
        context={"took": took},  # no part of the recipe: an equal shard that took longer changes no finding
    )
