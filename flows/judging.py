"""The frozen test split, and what a version's models make of it: ranked, drawn as graphs, summarized, scored."""

from functools import partial

from flows.corpus import corpus
from flows.session import Session
from storage import schemas
from storage.registry import read_frozen
from tasks.decoding import decode_shard
from tasks.examples import build_examples
from tasks.features import compute_features
from tasks.graphs import build_graphs, pipeline_label
from tasks.inputs import DirectoryResult, Input, StageResult, contents, every, only, same
from tasks.progress import ProgressLog
from tasks.ranking import rank_paragraphs
from tasks.retraining.frozen import freeze_articles, freeze_paragraphs
from tasks.retraining.outcome import Judged
from tasks.retraining.warm_start import PREDICTOR, RANKER, SUMMARIZER, frozen_stages
from tasks.scoring import score_predictions


def freeze(session: Session) -> tuple[StageResult, StageResult]:
    """Return articles and paragraphs of the frozen test split: as pinned, or copied now from the corpus.

    Raises:
        ValueError: no article could be frozen, so that no version could ever be judged.
    """
    pinned = read_frozen(session.run.store)
    if pinned is not None:
        return frozen_stages(session.run.store, pinned, session.config.seed)
    built, chosen = session.once(corpus), session.config.retraining
    count = min(chosen.test_shards, session.config.shards.articles)
    shards: dict[str, Input] = {"shards": every(built.articles, built.paragraphs)}
    articles = session.run.stage(
        schemas.ARTICLES,
        freeze_articles,
        shards=count,
        inputs=shards,
        arguments={"of": count, "articles": chosen.test_articles, "seed": session.config.seed},
        shard_argument="shard",
        name="frozen_articles",
    )
    if not session.run.planning and not any(record.written.rows for record in articles.in_order):
        raise ValueError(
            "the corpus has no test article with a candidate paragraph: expected at least one, on which the models of "
            "all weeks are judged"
        )
    paragraphs = session.run.stage(
        schemas.PARAGRAPHS,
        freeze_paragraphs,
        shards=count,
        inputs={"articles": same(articles), **shards},
        arguments={"of": count},
        shard_argument="shard",
        name="frozen_paragraphs",
    )
    return articles, paragraphs


def judge(
    session: Session,
    name: str,
    frozen: tuple[StageResult, StageResult],
    vocabulary: StageResult,
    models: dict[str, DirectoryResult],
) -> Judged:
    """Summarize and score the frozen test split with a version's models, under this run's settings of the stages."""
    config = session.config
    stage = partial(session.run.stage, shards=len(frozen[0].shards))
    articles, paragraphs = (same(part) for part in frozen)
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
    scored = {"articles": articles, "predictions": same(predictions)}
    scores = stage(schemas.SCORES, score_predictions, inputs=scored, settings=config.scoring, name=f"{name}_scores")
    return Judged(vocabulary, models, predictions, scores)
