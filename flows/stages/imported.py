"""Imported ranked shards as the corpus: their examples and vocabulary, and texts decoded from these."""

from typing import TYPE_CHECKING

from flows.running.session import Session
from storage import schemas
from tasks.engine.inputs import StageResult, only, same
from tasks.engine.recipe import Recipe
from tasks.exchange.ranked_wikisum.settings import ImportSettings

if TYPE_CHECKING:
    from tasks.exchange.ranked_wikisum.importing import Imported


def shards(session: Session) -> "Imported":
    """Import the missing shards."""
    from tasks.exchange.ranked_wikisum.importing import import_corpus  # here, because it loads torch

    return import_corpus(session.run, settings(session))


def paragraphs(session: Session, imported: "Imported") -> StageResult:
    """Decode the paragraphs of the articles whose texts are needed."""
    return session.run.stage(
        Recipe(
            schemas.PARAGRAPHS,
            "tasks.exchange.ranked_wikisum.importing:paragraphs_of",
            arguments={"texts": settings(session).texts},
        ),
        shards=len(imported.examples.shards),
        inputs={"examples": same(imported.examples), "vocabulary": only(imported.vocabulary)},
    )


def graphs(session: Session, imported: "Imported") -> StageResult | None:
    """Return the graphs that were imported with the examples; None if they must be computed.

    Raises:
        ValueError: the summarizer reads a graph that was not imported and cannot be computed without texts.
    """
    graph = session.config.summarizer.graph
    if graph != "none" and not can_have_graphs(session, imported):
        raise ValueError(
            f"summarizer.graph is {graph!r}, but the shards of {settings(session).folder} have no graphs: expected "
            "imported.texts to be 'all', so that graphs can be computed"
        )
    return imported.graphs


def can_have_graphs(session: Session, imported: "Imported") -> bool:
    """Whether graphs of the training articles were imported or can be computed."""
    return imported.graphs is not None or settings(session).texts == "all"


def settings(session: Session) -> ImportSettings:
    """Return the settings of the import."""
    imported = session.config.imported
    assert imported is not None, "an imported corpus has its settings"
    return imported
