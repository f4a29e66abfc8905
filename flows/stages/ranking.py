"""The ranker (Liu & Lapata 2019, sec. 3.1), and the ranked paragraphs."""

from collections.abc import Mapping
from typing import Any

from flows.running.session import Session
from flows.stages.results import Ranked, RankerModel, RankingScores
from flows.stages.texts import CorpusStages
from storage import schemas
from tasks.engine.recipe import Input, Recipe, contents, every, only, same
from tasks.ranking.folders import ranking_notes
from tasks.ranking.settings import RankerSettings


def ranker(
    session: Session, corpus: CorpusStages, settings: RankerSettings | None = None, initial: RankerModel | None = None
) -> RankerModel:
    """Train the ranker on ROUGE-2 recall, optionally with other settings or from the weights of `initial`."""
    settings, seed = settings or session.config.ranker, {"seed": session.config.seed}
    recipe = Recipe("models/ranker", "tasks.ranking.training:train_ranker", settings, seed, version=1)
    shards = every(corpus.articles, corpus.paragraphs, corpus.features)
    inputs = {"shards": shards, "vocabulary": only(corpus.vocabulary)}
    inputs |= {} if initial is None else {"initial": contents(initial)}
    return session.training(RankerModel, recipe, inputs, "ranker")


def ranked(
    session: Session,
    corpus: CorpusStages,
    ranker: RankerModel | None,
    name: str | None = None,
    *,
    order: str | None = None,
) -> Ranked:
    """Keep the L' best paragraphs of every article, by another method than that of the settings if `order` names it.
    Only the method `ranking` reads the ranker: with another, a new ranker ranks no shard again."""
    settings, order = session.config.ranking, order or session.config.order
    if order != settings.method:
        settings = settings.model_copy(update={"method": order, "folder": None})
    read = ranker if order == "ranking" else None
    arguments: dict[str, Any] = {} if read is not None else {"ranker_directory": None}
    if settings.method == "bm25":
        arguments["words"] = session.config.words
    notes, context = ranking_notes(settings), {"device": session.config.engine.device}
    recipe = Recipe(schemas.RANKED, "tasks.ranking.ranking:rank_paragraphs", settings, arguments, notes=notes)
    inputs = {**_texts(corpus), **({} if read is None else {"ranker_directory": contents(read)})}
    shards = len(corpus.articles.shards)
    return Ranked(session.run.stage(recipe, shards=shards, inputs=inputs, context=context, name=name))


def scores(session: Session, corpus: CorpusStages, ranked: Ranked) -> RankingScores:
    """Judge the order of the paragraphs (Liu & Lapata 2019, Table 1)."""
    method = session.config.order
    arguments = {} if method == "ranking" else {"method": method}
    recipe = Recipe(schemas.RANKING_SCORES, "tasks.ranking.features:score_rankings", arguments=arguments)
    inputs = {**_texts(corpus), "ranked": same(ranked)}
    return RankingScores(session.run.stage(recipe, shards=len(ranked.shards), inputs=inputs))


def _texts(corpus: CorpusStages) -> Mapping[str, Input]:
    return {"articles": same(corpus.articles), "paragraphs": same(corpus.paragraphs), "features": same(corpus.features)}
