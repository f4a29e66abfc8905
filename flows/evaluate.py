"""Decode the test split with every system, score it, and write the report (000 sec. 5)."""

from dataclasses import dataclass

from prefect import flow
from tasks.reporting.report import write_report

from flows.config import DEFAULT, BuildConfig
from flows.corpus import corpus
from flows.session import Session, walk_flow
from flows.train import ranked, ranker, summarizer
from storage import schemas
from tasks.baselines import predict_baselines
from tasks.decoding import decode_shard
from tasks.inputs import DirectoryResult, Input, StageResult, contents, every, same
from tasks.progress import ProgressLog
from tasks.publishing import summarise
from tasks.scoring import score_predictions


@dataclass(frozen=True)
class Evaluation:
    """Summaries of the test split and their scores."""

    baselines: StageResult
    summaries: StageResult
    baseline_scores: StageResult
    scores: StageResult


@flow(name="evaluate", flow_run_name="evaluate-{config.preset}")
def evaluate(config: BuildConfig = DEFAULT) -> None:
    """Decode, score and report, building what is missing before that."""
    walk_flow(config, report)


def evaluation(session: Session) -> Evaluation:
    """Summarize the test articles with the baselines and the trained model, and score every summary."""
    config, built, made = session.config, session.once(corpus), session.once(ranked)
    stage, count = session.run.stage, config.shards.articles
    baselines = stage(
        schemas.PREDICTIONS,
        predict_baselines,
        shards=count,
        inputs={"articles": same(built.articles), "ranked": same(made.ranked)},
        settings=config.baselines,
        name="baselines",
    )
    decoded: dict[str, Input] = {"examples": same(made.examples)}
    if config.summarizer.graph != "none":
        decoded["graphs"] = same(made.graphs)
    summaries = stage(
        schemas.PREDICTIONS,
        decode_shard,
        shards=count,
        inputs={**decoded, "directory": contents(session.once(summarizer))},
        settings=config.decoding,
        context={"progress": ProgressLog("decoding")},
        name="predictions",
    )
    scored = [
        stage(
            schemas.SCORES,
            score_predictions,
            shards=count,
            inputs={"articles": same(built.articles), "predictions": same(predictions)},
            settings=config.scoring,
            name=name,
        )
        for name, predictions in (("baseline_scores", baselines), ("scores", summaries))
    ]
    return Evaluation(baselines, summaries, *scored)


def report(session: Session) -> DirectoryResult:
    """Write the report and the artifacts."""
    config, built, made = session.config, session.once(corpus), session.once(ranked)
    judged = session.once(evaluation)
    counts = {} if session.run.planning else {name: summarise(result) for name, result in session.run.stages.items()}
    return session.run.directory(
        "reports",
        write_report,
        version=1,
        inputs={
            "scores": every(judged.baseline_scores, judged.scores, made.ranking_scores),
            "samples": every(built.articles, made.ranked, judged.baselines, judged.summaries, made.graphs),
            "texts": every(built.articles, built.paragraphs, built.features),
            "ranker": contents(session.once(ranker)),
            "summarizer": contents(session.once(summarizer)),
        },
        settings=config.report,
        arguments={"counts": counts, "config": config, "seed": config.seed},
    )
