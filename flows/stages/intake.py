"""Read the source: its articles, and their documents if it contains them."""

from collections.abc import Mapping
from typing import Any

from flows.config import BuildConfig
from flows.running.session import Session
from storage import schemas
from tasks.engine.inputs import Input, StageResult, gathered, same
from tasks.engine.recipe import Recipe
from tasks.sources.choice import check_beginnings, open_source
from tasks.sources.kept_answers import KeptAnswers
from tasks.sources.source import Partition


def articles(session: Session, kept_out: Mapping[str, Input]) -> StageResult:
    """Read the source's partitions and regroup its articles by shard, refusing those of `kept_out`.

    Retraining keeps out the test articles of other weeks. In its first week there are none, but the input exists, so
    that later only shards with a refused row get another key.
    """
    config, stage = session.config, session.run.stage
    partitions = session.once(_partitions)
    intake = stage(
        Recipe(
            schemas.INTAKE,
            "tasks.articles.articles:read_articles",
            arguments={**_arguments(config), "seed": config.seed},
            per_shard={"partition": partitions},
        ),
        shards=len(partitions),
        inputs={},
        context={"source": config.source, "contact": config.crawl.contact},
    )
    inputs: dict[str, Input] = {"parts": gathered(intake)}
    if kept_out:
        refused = stage(
            Recipe(schemas.ARTICLES, "tasks.retraining.frozen:find_kept_out"),
            shards=config.shards.articles,
            inputs={**inputs, **kept_out},
            name="kept_out_articles",
        )
        inputs["kept_out"] = same(refused)
    return stage(
        Recipe(schemas.ARTICLES, "tasks.articles.articles:merge_articles"), shards=config.shards.articles, inputs=inputs
    )


def given_documents(session: Session) -> StageResult | None:
    """Read the documents that the source has for its articles; None if it has none."""
    config = session.config
    if not open_source(config.source).gives_documents:
        return None
    partitions = session.once(_partitions)
    return session.run.stage(
        Recipe(
            schemas.GIVEN,
            "tasks.articles.given_documents:read_given_documents",
            arguments=_arguments(config),
            per_shard={"partition": partitions},
        ),
        shards=len(partitions),
        inputs={},
        context={"source": config.source},
    )


def _partitions(session: Session) -> list[Partition]:
    kept = KeptAnswers(session.run.store) if session.keeps_answers else None
    partitions = open_source(session.config.source, session.config.crawl.contact, kept).partitions()
    if kept is not None and not session.run.planning:
        kept.forget()  # what the check before a run asked is for the run
    if not partitions:
        kind = session.config.source.kind
        raise ValueError(f"the source (source.{kind}) is empty: expected at least one article, found none")
    if session.run.planning:
        check_beginnings(session.config.source, partitions)
    return partitions


def _arguments(config: BuildConfig) -> dict[str, Any]:
    return {
        "source_name": config.source.kind,
        "article_shards": config.shards.articles,
        "search_will_follow": config.search.provider != "none",
    }
