"""The two trained models: the paragraph ranker (000 sec. 3.1) and the summarizer (000 sec. 3.2)."""

import sys
from dataclasses import dataclass

from prefect import flow

from flows.command_line import main
from flows.config import DEFAULT, BuildConfig
from flows.corpus import corpus, vocabulary
from flows.imported import imported, imported_graphs
from flows.intake import find_articles
from flows.session import Session, walk_flow
from storage import schemas
from tasks.attention_training import AttentionSettings, train_attention
from tasks.examples import build_examples
from tasks.graphs import build_graphs, pipeline_label
from tasks.inputs import DirectoryResult, Input, StageResult, contents, every, only, same
from tasks.notification import notify
from tasks.progress import ProgressLog
from tasks.ranker_training import RankerSettings
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
    return train_ranking(session, session.config.ranker)


def train_ranking(
    session: Session, settings: RankerSettings, initial: DirectoryResult | None = None
) -> DirectoryResult:
    """Train any ranker, as models/ranker; from the weights of `initial` where that is given."""
    config, built = session.config, session.once(corpus)
    start = {} if initial is None else {"initial": contents(initial)}
    return session.run.directory(
        "models/ranker",
        train_ranker_model,
        version=1,
        inputs={
            "shards": every(built.articles, built.paragraphs, built.features),
            "vocabulary": only(built.vocabulary),
            **start,
        },
        settings=settings,
        arguments={"seed": config.seed},
        context={"progress": ProgressLog("ranker")},
    )


def ranked(session: Session) -> Ranked:
    """Keep the L' best paragraphs of every article, judge them, draw their graphs, and turn them into token ids."""
    built, best = session.once(corpus), session.once(best_paragraphs)
    table1 = session.run.stage(
        schemas.RANKING_SCORES,
        score_rankings,
        shards=len(best.shards),
        inputs={
            "articles": same(built.articles),
            "paragraphs": same(built.paragraphs),
            "features": same(built.features),
            "ranked": same(best),
        },
        settings=session.config.ranking_scores,
    )
    return Ranked(best, table1, session.once(graphs), session.once(examples))


def best_paragraphs(session: Session) -> StageResult:
    """Rank the paragraphs of every article; those that are imported stand in their order already."""
    config, built = session.config, session.once(corpus)
    read: dict[str, Input] = {
        "articles": same(built.articles), "paragraphs": same(built.paragraphs), "features": same(built.features),
    }  # fmt: skip
    settings, arguments = config.ranking, {}
    if config.imported is None:
        read["ranker_directory"] = contents(session.once(ranker))
    else:
        settings, arguments = settings.model_copy(update={"method": "found"}), {"ranker_directory": None}
    return session.run.stage(
        schemas.RANKED,
        rank_paragraphs,
        shards=len(built.articles.shards),
        inputs=read,
        settings=settings,
        arguments=arguments,
    )


def graphs(session: Session) -> StageResult:
    """Draw the graphs of the ranked paragraphs, or take those that are imported."""
    given, settings = session.once(imported_graphs), session.config.graphs
    if given is not None:
        return given
    best = session.once(best_paragraphs)
    return session.run.stage(
        schemas.GRAPHS,
        build_graphs,
        shards=len(best.shards),
        inputs={"ranked": same(best)},
        settings=settings,
        notes={"entities": pipeline_label(settings)},
    )


def examples(session: Session) -> StageResult:
    """Turn the ranked paragraphs into token ids, or take the examples that are imported."""
    given = session.once(imported)
    if given is not None:
        return given.examples
    best = session.once(best_paragraphs)
    return session.run.stage(
        schemas.EXAMPLES,
        build_examples,
        shards=len(best.shards),
        inputs={
            "articles": same(session.once(find_articles)),
            "ranked": same(best),
            "vocabulary": only(session.once(vocabulary)),
        },
        settings=session.config.examples,
    )


def summarizer(session: Session) -> DirectoryResult:
    """Train the summarizer on the ranked paragraphs, with their graphs where it asks for one."""
    config = session.config
    drawn = session.once(graphs) if config.summarizer.graph != "none" else None
    return train_system(session, "summarizer", config.summarizer, config.training, session.once(examples), drawn)


def train_system(
    session: Session,
    name: str,
    settings: SummarizerSettings,
    training: TrainingSettings,
    examples: StageResult,
    graphs: StageResult | None,
    initial: DirectoryResult | None = None,
) -> DirectoryResult:
    """Train any summarizer on examples, as models/`name`; the graphs are read where it asks for one.

    It starts from the weights of `initial` where that is given.
    """
    start = {} if initial is None else {"initial": contents(initial)}
    return session.run.directory(
        f"models/{name}",
        train_summarizer_model,
        version=1,
        inputs={
            "shards": every(examples, *([graphs] if graphs is not None and settings.graph != "none" else [])),
            "vocabulary": only(session.once(vocabulary)),
            **start,
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


if __name__ == "__main__":
    sys.exit(main("python -m flows.train", train_summarizer, summarizer))
