"""The two trained models: the paragraph ranker (000 sec. 3.1) and the summarizer (000 sec. 3.2)."""

from dataclasses import dataclass

from prefect import flow

from flows.config import DEFAULT, BuildConfig
from flows.corpus import corpus
from flows.session import Session, walk_flow
from storage import schemas
from tasks.attention_training import AttentionSettings, train_attention
from tasks.examples import build_examples
from tasks.graphs import build_graphs, pipeline_label
from tasks.inputs import DirectoryResult, StageResult, contents, every, only, same
from tasks.notification import notify
from tasks.progress import ProgressLog
from tasks.ranker_training import train_ranker as train_ranker_model
from tasks.ranking import rank_paragraphs
from tasks.ranking_scores import score_rankings
from tasks.training import SummarizerSettings, TrainingSettings
from tasks.training import train_summarizer as train_summarizer_model


@dataclass(frozen=True)
class Ranked:
    """The ranked paragraphs, what Table 1 says of them, and what is made of them."""

    ranked: StageResult
    ranking_scores: StageResult
    graphs: StageResult
    examples: StageResult


@flow(name="train-ranker", flow_run_name="train-ranker-{config.preset}", on_failure=[notify], on_crashed=[notify])
def train_ranker(config: BuildConfig = DEFAULT) -> None:
    """Train the paragraph ranker on the corpus, building what of the corpus is missing."""
    walk_flow(config, ranker)


@flow(
    name="train-summarizer", flow_run_name="train-summarizer-{config.preset}", on_failure=[notify], on_crashed=[notify]
)
def train_summarizer(config: BuildConfig = DEFAULT) -> None:
    """Rank, draw the graphs, and train the summarizer, building what is missing before that."""
    walk_flow(config, summarizer)


def ranker(session: Session) -> DirectoryResult:
    """Train the ranker on ROUGE-2 recall."""
    config, built = session.config, session.once(corpus)
    return session.run.directory(
        "models/ranker",
        train_ranker_model,
        version=1,
        inputs={
            "shards": every(built.articles, built.paragraphs, built.features),
            "vocabulary": only(built.vocabulary),
        },
        settings=config.ranker,
        arguments={"seed": config.seed},
        context={"progress": ProgressLog("ranker")},
    )


def ranked(session: Session) -> Ranked:
    """Keep the L' best paragraphs of every article, judge them, draw their graphs, and turn them into token ids."""
    config, built, stage = session.config, session.once(corpus), session.run.stage
    count = config.shards.articles
    both = {"articles": same(built.articles), "paragraphs": same(built.paragraphs), "features": same(built.features)}
    best = stage(
        schemas.RANKED,
        rank_paragraphs,
        shards=count,
        inputs={**both, "ranker_directory": contents(session.once(ranker))},
        settings=config.ranking,
    )
    table1 = stage(
        schemas.RANKING_SCORES,
        score_rankings,
        shards=count,
        inputs={**both, "ranked": same(best)},
        settings=config.ranking_scores,
    )
    graphs = stage(
        schemas.GRAPHS,
        build_graphs,
        shards=count,
        inputs={"ranked": same(best)},
        settings=config.graphs,
        notes={"entities": pipeline_label(config.graphs)},
    )
    examples = stage(
        schemas.EXAMPLES,
        build_examples,
        shards=count,
        inputs={"articles": same(built.articles), "ranked": same(best), "vocabulary": only(built.vocabulary)},
        settings=config.examples,
    )
    return Ranked(best, table1, graphs, examples)


def summarizer(session: Session) -> DirectoryResult:
    """Train the summarizer on the ranked paragraphs, with their graphs where it asks for one."""
    config, made = session.config, session.once(ranked)
    return train_system(session, "summarizer", config.summarizer, config.training, made.examples, made.graphs)


def train_system(
    session: Session,
    name: str,
    settings: SummarizerSettings,
    training: TrainingSettings,
    examples: StageResult,
    graphs: StageResult,
) -> DirectoryResult:
    """Train any summarizer on examples, as models/`name`; the graphs are read where it asks for one."""
    return session.run.directory(
        f"models/{name}",
        train_summarizer_model,
        version=1,
        inputs={
            "shards": every(examples, *([graphs] if settings.graph != "none" else [])),
            "vocabulary": only(session.once(corpus).vocabulary),
        },
        settings=settings,
        arguments={"training": training, "seed": session.config.seed},
        context={"progress": ProgressLog(name)},
    )


def attention(session: Session) -> DirectoryResult:
    """Train the predictor of the summarizer's attention to paragraphs."""
    config, made = session.config, session.once(ranked)
    graphs = made.graphs if config.summarizer.graph != "none" else None
    return train_predictor(session, session.once(summarizer), config.attention, made.examples, graphs)


def train_predictor(
    session: Session,
    model: DirectoryResult,
    settings: AttentionSettings,
    examples: StageResult,
    graphs: StageResult | None,
) -> DirectoryResult:
    """Train the attention predictor of a trained summarizer, as models/attention-NAME; graphs where that reads one."""
    name = f"attention-{model.name.removeprefix('models/')}"
    return session.run.directory(
        f"models/{name}",
        train_attention,
        version=1,
        inputs={
            "shards": every(examples, *([] if graphs is None else [graphs])),
            "summarizer": contents(model),
        },
        settings=settings,
        arguments={"seed": session.config.seed},
        context={"progress": ProgressLog(name)},
    )
