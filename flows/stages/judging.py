"""What a version's models make of the test splits: rankings, graphs, summaries, scores."""

from functools import partial

from flows.running.session import Session
from storage import schemas
from tasks.engine.inputs import DirectoryResult, Input, StageResult, contents, only, same
from tasks.engine.progress import ProgressLog
from tasks.evaluation.scoring import score_predictions
from tasks.ranking.features import compute_features
from tasks.ranking.ranking import rank_paragraphs
from tasks.retraining.outcome import Judged
from tasks.retraining.splits import JudgedOn
from tasks.retraining.warm_start import PREDICTOR, RANKER, SUMMARIZER
from tasks.summarization.decoding import decode_shard
from tasks.summarization.examples import build_examples
from tasks.summarization.graphs import build_graphs, pipeline_label


def judge(
    session: Session,
    name: str,
    splits: JudgedOn,
    vocabulary: StageResult,
    models: dict[str, DirectoryResult],
) -> Judged:
    """Summarize and score both test splits with a version's models, under this run's settings of the stages."""
    config = session.config
    stage = partial(session.run.stage, shards=len(splits.articles.shards))
    articles, paragraphs = same(splits.articles), same(splits.paragraphs)
    texts: dict[str, Input] = {"articles": articles, "paragraphs": paragraphs}
    features = stage(schemas.FEATURES, compute_features, inputs=texts, settings=config.features, name="frozen_features")
    ranking: dict[str, Input] = {"features": same(features), "ranker_directory": contents(models[RANKER])}
    ranked = stage(
        schemas.RANKED, rank_paragraphs, inputs=texts | ranking, settings=config.ranking, name=f"{name}_ranked"
    )
    graphs = stage(
        schemas.GRAPHS,
        build_graphs,
        inputs={"ranked": same(ranked)},
        settings=config.graphs,
        notes={"entities": pipeline_label(config.graphs)},
        name=f"{name}_graphs",
    )
    examples = stage(
        schemas.EXAMPLES,
        build_examples,
        inputs={"articles": articles, "ranked": same(ranked), "vocabulary": only(vocabulary)},
        settings=config.examples,
        name=f"{name}_examples",
    )
    read: dict[str, Input] = {"examples": same(examples), "graphs": same(graphs)}
    if config.decoding.guidance.reads_scores:
        read["ranked"] = same(ranked)
    if config.decoding.guidance.reads_predictor:
        read["predictor"] = contents(models[PREDICTOR])
    predictions = stage(
        schemas.PREDICTIONS,
        decode_shard,
        inputs={**read, "directory": contents(models[SUMMARIZER])},
        settings=config.decoding,
        context={"progress": ProgressLog(f"decoding-{name}")},
        name=f"{name}_predictions",
    )
    scored: dict[str, Input] = {"predictions": same(predictions), "ranked": same(ranked), **texts}
    scores = stage(schemas.SCORES, score_predictions, inputs=scored, settings=config.scoring, name=f"{name}_scores")
    return Judged(vocabulary, models, predictions, scores)
