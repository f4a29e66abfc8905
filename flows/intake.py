"""What the source gives: its articles, and the documents of them that it holds itself."""

from typing import Any

from flows.config import BuildConfig
from flows.imported import imported
from flows.session import Session
from storage import schemas
from tasks.articles import merge_articles, read_articles
from tasks.given_documents import read_given_documents
from tasks.inputs import StageResult, gathered
from tasks.sources import Partition, open_source


def find_partitions(session: Session) -> list[Partition]:
    """Ask the source for its partitions."""
    return open_source(session.config.source).partitions()


def find_articles(session: Session) -> StageResult:
    """Read the source's partitions and regroup its articles by shard, or take those that are imported."""
    given = session.once(imported)
    if given is not None:
        return given.articles
    config, stage = session.config, session.run.stage
    partitions = session.once(find_partitions)
    intake = stage(
        schemas.INTAKE,
        read_articles,
        shards=len(partitions),
        inputs={},
        per_shard={"partition": partitions},
        arguments={**_intake_arguments(config), "seed": config.seed},
        context={"source": config.source},
    )
    return stage(schemas.ARTICLES, merge_articles, shards=config.shards.articles, inputs={"parts": gathered(intake)})


def read_documents(session: Session) -> StageResult | None:
    """Read the documents that the source itself has for its articles; None where it has none."""
    config = session.config
    if not open_source(config.source).gives_documents:
        return None
    partitions = session.once(find_partitions)
    return session.run.stage(
        schemas.GIVEN,
        read_given_documents,
        shards=len(partitions),
        inputs={},
        per_shard={"partition": partitions},
        arguments=_intake_arguments(config),
        context={"source": config.source},
    )


def _intake_arguments(config: BuildConfig) -> dict[str, Any]:
    return {
        "source_name": config.source.kind,
        "article_shards": config.shards.articles,
        "search_will_follow": config.search.provider != "none",
    }
