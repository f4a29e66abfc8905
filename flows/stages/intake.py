"""What the source gives: its articles, and the documents of them that it holds itself."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from flows.config import BuildConfig
from flows.running.session import Session
from flows.stages.imported import imported
from storage import schemas
from tasks.articles.articles import merge_articles, read_articles
from tasks.articles.given_documents import read_given_documents
from tasks.engine.inputs import Input, StageResult, gathered, same
from tasks.retraining.frozen import find_kept_out
from tasks.sources import Partition, check_beginnings, open_source


def find_partitions(session: Session) -> list[Partition]:
    """Ask the source for its partitions.

    Raises:
        ValueError: it has none, or, before work starts, what it has is something else.
    """
    found = open_source(session.config.source).partitions()
    if not found:
        kind = session.config.source.kind
        raise ValueError(f"the source (source.{kind}) is empty: expected at least one article, found none")
    if session.run.planning:
        check_beginnings(session.config.source, found)
    return found


def check_splits(session: Session) -> None:
    """See that there are articles to learn from and to be judged on, as soon as articles are known.

    Raises:
        ValueError: a split has none.
    """
    articles = session.once(find_articles)
    if not articles.complete:  # a plan before anything was made
        return
    missing, kept = {"train", "test"}, Counter[str]()
    for record in articles.in_order:  # most corpora have both in their first shard
        for batch in session.run.store.read_batches(record.path, record.written.sha256, ["split", "drop_reason"]):
            kept.update(batch.filter(batch.column("drop_reason").is_null()).column("split").to_pylist())
        if missing <= kept.keys():
            return
    has = ", ".join(f"{count:,} {split}" for split, count in sorted(kept.items())) or "none"
    raise ValueError(
        f"of the articles that are kept, {has}: expected some of {' and of '.join(sorted(missing - kept.keys()))} too"
    )


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
    inputs: dict[str, Input] = {"parts": gathered(intake)}
    judged_on = session.once(kept_out_of_training)
    if judged_on:
        refused = stage(
            schemas.ARTICLES,
            find_kept_out,
            shards=config.shards.articles,
            inputs={**inputs, **judged_on},
            name="kept_out_articles",
        )
        inputs["kept_out"] = same(refused)
    return stage(schemas.ARTICLES, merge_articles, shards=config.shards.articles, inputs=inputs)


def kept_out_of_training(_: Session) -> Mapping[str, Input]:
    """Return the test articles of other weeks that must not be learned from; a build by itself knows of none.

    Retraining gives its own (`Session.give`): in its first week no article, but an input all the same, so that what
    is kept out later changes the articles' key only where a row is refused.
    """
    return {}


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
