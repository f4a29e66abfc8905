"""The ranker (000 sec. 3.1), the paragraphs it puts in order, and what is made of them: graphs and examples."""

from dataclasses import dataclass

from flows.running.session import Session
from flows.stages.corpus import corpus, vocabulary
from flows.stages.imported import imported, imported_graphs
from flows.stages.intake import find_articles
from storage import schemas
from tasks.engine.inputs import DirectoryResult, Input, StageResult, contents, every, only, same
from tasks.engine.progress import ProgressLog
from tasks.ranking.ranking import rank_paragraphs
from tasks.ranking.scores import score_rankings
from tasks.ranking.training import RankerSettings, train_ranker
from tasks.summarization.examples import build_examples
from tasks.summarization.graphs import build_graphs, pipeline_label


@dataclass(frozen=True)
class Ranked:
    """The ranked paragraphs, what Table 1 says of them, and what is made of them."""

    ranked: StageResult
    ranking_scores: StageResult
    graphs: StageResult
    examples: StageResult


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
        train_ranker,
        version=2,
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
    method = ranking_method(session)
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
        arguments={} if method == "ranking" else {"method": method},
    )
    return Ranked(best, table1, session.once(graphs), session.once(examples))


def ranking_method(session: Session) -> str:
    """Return what puts paragraphs in order: the method of the settings; those that are imported stay as found."""
    return session.config.ranking.method if session.config.imported is None else "found"


def best_paragraphs(session: Session) -> StageResult:
    """Rank the paragraphs of every article; those that are imported stand in their order already."""
    config, built = session.config, session.once(corpus)
    read: dict[str, Input] = {
        "articles": same(built.articles), "paragraphs": same(built.paragraphs), "features": same(built.features),
    }  # fmt: skip
    if config.imported is None:
        read["ranker_directory"] = contents(session.once(ranker))
    return session.run.stage(
        schemas.RANKED,
        rank_paragraphs,
        shards=len(built.articles.shards),
        inputs=read,
        settings=config.ranking.model_copy(update={"method": ranking_method(session)}),
        arguments={} if config.imported is None else {"ranker_directory": None},
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
