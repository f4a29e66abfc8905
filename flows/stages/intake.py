"""Read the source: its articles, and their documents if it contains them; or shards of ranked paragraphs."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from flows.config import BuildConfig
from flows.running.session import Session, once
from flows.stages.results import Articles, Compared, Examples, GivenDocuments, Graphs, VocabularyTable
from storage import schemas
from storage.store import Store
from tasks.engine.recipe import Input, Recipe, every, gathered, only, same
from tasks.exchange.ranked_wikisum.settings import ImportSettings
from tasks.sources.choice import check_beginnings, open_source
from tasks.sources.mediawiki import KeptAnswers
from tasks.sources.source import Partition


def articles(session: Session, kept_out: Articles | None = None) -> Articles:
    """Read the source's partitions and regroup its articles by shard, refusing those of `kept_out`: in retraining the
    test articles of other weeks. The first week has none, but the input exists, so that later only shards with a
    refused row get another key."""
    config, stage, partitions = session.config, session.run.stage, _partitions(session)
    function, arguments = "tasks.articles.articles:read_articles", {**_arguments(config), "seed": config.seed}
    recipe = Recipe(schemas.INTAKE, function, arguments=arguments, per_shard={"partition": partitions})
    context = {"source": config.source, "contact": config.crawl.contact}
    intake = stage(recipe, shards=len(partitions), inputs={}, context=context)
    inputs: dict[str, Input] = {"parts": gathered(intake)}
    if kept_out is not None:
        recipe, reads = Recipe(schemas.ARTICLES, "tasks.retraining.splits:find_kept_out"), {"frozen": every(kept_out)}
        refused = stage(recipe, shards=config.shards.articles, inputs={**inputs, **reads}, name="kept_out_articles")
        inputs["kept_out"] = same(refused)
    recipe = Recipe(schemas.ARTICLES, "tasks.articles.articles:merge_articles")
    return Articles(session.run.stage(recipe, shards=config.shards.articles, inputs=inputs))


def check_splits(store: Store, articles: Articles) -> None:
    """Check, as soon as articles are known, that there are some for training and testing; ValueError if not."""
    if not articles.complete:  # a plan before anything was made
        return
    missing, kept = {"train", "test"}, Counter[str]()
    for record in articles.in_order:  # most corpora have both in their first shard
        for batch in store.read_batches(record.path, record.written.sha256, ["split", "drop_reason"]):
            kept.update(batch.filter(batch.column("drop_reason").is_null()).column("split").to_pylist())
        if missing <= kept.keys():
            return
    has = ", ".join(f"{count:,} {split}" for split, count in sorted(kept.items())) or "none"
    raise ValueError(
        f"of the articles that are kept, {has}: expected some of {' and of '.join(sorted(missing - kept.keys()))} too"
    )


def given_documents(session: Session) -> GivenDocuments | None:
    """Read the documents that the source has for its articles; None if it has none."""
    config = session.config
    if not open_source(config.source).gives_documents:
        return None
    partitions = _partitions(session)
    function, arguments = "tasks.articles.articles:read_given_documents", _arguments(config)
    recipe = Recipe(schemas.GIVEN, function, arguments=arguments, per_shard={"partition": partitions})
    context = {"source": config.source}
    return GivenDocuments(session.run.stage(recipe, shards=len(partitions), inputs={}, context=context))


@once
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


@dataclass(frozen=True)
class RankedShards:
    """The stages that were imported; `graphs` is None if the files hold none."""

    articles: Articles
    examples: Examples
    vocabulary: VocabularyTable
    graphs: Graphs | None


def ranked_shards(session: Session) -> RankedShards:
    """Import the missing shards."""
    from tasks.exchange.ranked_wikisum.importing import import_corpus  # here, because it loads torch

    vocabulary, examples, articles, graphs = import_corpus(session.run, _settings(session))
    drawn = None if graphs is None else Graphs(graphs)
    return RankedShards(Articles(articles), Examples(examples), VocabularyTable(vocabulary), drawn)


def imported_paragraphs(session: Session, shards: RankedShards) -> Compared:
    """Decode the paragraphs of the articles whose texts are needed; what they share is not compared."""
    function, arguments = "tasks.exchange.ranked_wikisum.importing:paragraphs_of", {"texts": _settings(session).texts}
    recipe = Recipe(schemas.PARAGRAPHS, function, arguments=arguments)
    inputs = {"examples": same(shards.examples), "vocabulary": only(shards.vocabulary)}
    return Compared(session.run.stage(recipe, shards=len(shards.examples.shards), inputs=inputs))


def imported_graphs(session: Session, shards: RankedShards) -> Graphs | None:
    """Return the imported graphs; None to compute them. Raises ValueError: graphs are read and cannot be had."""
    graph = session.config.summarizer.graph
    if graph != "none" and not can_have_graphs(session, shards):
        raise ValueError(
            f"summarizer.graph is {graph!r}, but the shards of {_settings(session).folder} have no graphs: expected "
            "imported.texts to be 'all', so that graphs can be computed"
        )
    return shards.graphs


def can_have_graphs(session: Session, shards: RankedShards) -> bool:
    """Whether graphs of the training articles were imported or can be computed."""
    return shards.graphs is not None or _settings(session).texts == "all"


def _settings(session: Session) -> ImportSettings:
    imported = session.config.imported
    assert imported is not None, "an imported corpus has its settings"
    return imported
