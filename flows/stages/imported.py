"""Imported ranked shards as the corpus: their examples and vocabulary, and texts decoded from these."""

from dataclasses import dataclass

from flows.running.session import Session
from flows.stages.results import Articles, Compared, Examples, Graphs, VocabularyTable
from storage import schemas
from tasks.engine.inputs import only, same
from tasks.engine.recipe import Recipe
from tasks.exchange.ranked_wikisum.settings import ImportSettings


@dataclass(frozen=True)
class RankedShards:
    """The stages that were imported; `graphs` is None where the files hold none."""

    articles: Articles
    examples: Examples
    vocabulary: VocabularyTable
    graphs: Graphs | None


def ranked_shards(session: Session) -> RankedShards:
    """Import the missing shards."""
    from tasks.exchange.ranked_wikisum.importing import import_corpus  # here, because it loads torch

    found = import_corpus(session.run, _settings(session))
    graphs = None if found.graphs is None else Graphs(found.graphs)
    return RankedShards(Articles(found.articles), Examples(found.examples), VocabularyTable(found.vocabulary), graphs)


def paragraphs(session: Session, shards: RankedShards) -> Compared:
    """Decode the paragraphs of the articles whose texts are needed; what they share is not compared."""
    recipe = Recipe(
        schemas.PARAGRAPHS,
        "tasks.exchange.ranked_wikisum.importing:paragraphs_of",
        arguments={"texts": _settings(session).texts},
    )
    inputs = {"examples": same(shards.examples), "vocabulary": only(shards.vocabulary)}
    return Compared(session.run.stage(recipe, shards=len(shards.examples.shards), inputs=inputs))


def graphs(session: Session, shards: RankedShards) -> Graphs | None:
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
