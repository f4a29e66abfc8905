"""The frozen test split: articles and paragraphs on which the models of all weeks are judged, fixed once."""

from flows.dag import dag_of
from flows.running.session import Session
from storage import schemas
from storage.registry import read_frozen
from tasks.engine.inputs import Input, every, same
from tasks.engine.recipe import Recipe
from tasks.retraining.splits import TestSplit
from tasks.retraining.warm_start import frozen_stages


def freeze(session: Session) -> TestSplit:
    """Return articles and paragraphs of the frozen test split: the fixed ones, or a first copy of the corpus.

    Raises:
        ValueError: no article could be frozen, so that no version could ever be judged.
    """
    frozen = read_frozen(session.run.store)
    if frozen is not None:
        return TestSplit(*frozen_stages(session.run.store, frozen, session.config.seed))
    corpus, chosen = dag_of(session).corpus, session.config.retraining
    count = min(chosen.test_shards, session.config.shards.articles)
    shards: dict[str, Input] = {"shards": every(corpus.articles, corpus.paragraphs)}
    articles = session.run.stage(
        Recipe(
            schemas.ARTICLES,
            "tasks.retraining.frozen:freeze_articles",
            arguments={"of": count, "articles": chosen.test_articles, "seed": session.config.seed},
            per_shard={"shard": range(count)},
        ),
        shards=count,
        inputs={**shards, "corpus": every(corpus.articles)},
        name="frozen_articles",
    )
    if not session.run.planning and not any(record.written.rows for record in articles.in_order):
        raise ValueError(
            "the corpus has no test article with a candidate paragraph: expected at least one, on which the models of "
            "all weeks are judged"
        )
    paragraphs = session.run.stage(
        Recipe(
            schemas.PARAGRAPHS,
            "tasks.retraining.frozen:freeze_paragraphs",
            arguments={"of": count},
            per_shard={"shard": range(count)},
        ),
        shards=count,
        inputs={"articles": same(articles), **shards},
        name="frozen_paragraphs",
    )
    return TestSplit(articles, paragraphs)
