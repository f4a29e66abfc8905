"""Other people's ranked shards as the corpus: their examples and vocabulary, and the texts that can be told from them.

Where `imported` is set, nothing is crawled, ranked or cut into pieces: the stages named here stand where those of our
own corpus would, and all that follows is the same.
"""

from flows.running.session import Session
from storage import schemas
from tasks.engine.inputs import StageResult, only, same
from tasks.exchange.ranked_wikisum import Imported, import_corpus, paragraphs_of


def imported(session: Session) -> Imported | None:
    """Import what is missing of the shards; None where the corpus is our own."""
    settings = session.config.imported
    return None if settings is None else import_corpus(session.run, settings)


def imported_paragraphs(session: Session) -> StageResult | None:
    """Decode the paragraphs of the articles whose texts are asked for; None where the corpus is our own."""
    settings, given = session.config.imported, session.once(imported)
    if settings is None or given is None:
        return None
    return session.run.stage(
        schemas.PARAGRAPHS,
        paragraphs_of,
        shards=len(given.examples.shards),
        inputs={"examples": same(given.examples), "vocabulary": only(given.vocabulary)},
        arguments={"texts": settings.texts},
    )


def imported_graphs(session: Session) -> StageResult | None:
    """Return the graphs that came with the examples, if any did.

    Raises:
        ValueError: the summarizer reads a graph that neither came nor can be drawn, for want of texts.
    """
    settings, given = session.config.imported, session.once(imported)
    if settings is None or given is None:
        return None
    graph = session.config.summarizer.graph
    if given.graphs is None and graph != "none" and settings.texts != "all":
        raise ValueError(
            f"summarizer.graph is {graph!r}, but the shards of {settings.folder} hold no graphs: expected "
            "imported.texts to be 'all', so that they can be drawn"
        )
    return given.graphs
