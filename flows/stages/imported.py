"""Other people's ranked shards as the corpus: their examples and vocabulary, and the texts told from them."""

from flows.running.session import Session
from storage import schemas
from tasks.engine.inputs import StageResult, only, same
from tasks.engine.recipe import Recipe
from tasks.exchange.ranked_wikisum.importing import Imported, import_corpus, paragraphs_of
from tasks.exchange.ranked_wikisum.settings import ImportSettings


def shards(session: Session) -> Imported:
    """Import what is missing of the shards."""
    return import_corpus(session.run, settings(session))


def paragraphs(session: Session, given: Imported) -> StageResult:
    """Decode the paragraphs of the articles whose texts are asked for."""
    return session.run.stage(
        Recipe(schemas.PARAGRAPHS, paragraphs_of, arguments={"texts": settings(session).texts}),
        shards=len(given.examples.shards),
        inputs={"examples": same(given.examples), "vocabulary": only(given.vocabulary)},
    )


def graphs(session: Session, given: Imported) -> StageResult | None:
    """Return the graphs that came with the examples; None where they are to be drawn.

    Raises:
        ValueError: the summarizer reads a graph that neither came nor can be drawn, for want of texts.
    """
    graph = session.config.summarizer.graph
    if graph != "none" and not can_have_graphs(session, given):
        raise ValueError(
            f"summarizer.graph is {graph!r}, but the shards of {settings(session).folder} hold no graphs: expected "
            "imported.texts to be 'all', so that they can be drawn"
        )
    return given.graphs


def can_have_graphs(session: Session, given: Imported) -> bool:
    """Whether graphs of the training articles came, or can be drawn."""
    return given.graphs is not None or settings(session).texts == "all"


def settings(session: Session) -> ImportSettings:
    """Return the settings of the import."""
    found = session.config.imported
    assert found is not None, "an imported corpus has its settings"
    return found
