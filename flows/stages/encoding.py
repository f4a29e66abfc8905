"""The input of summarizers: token ids of the ranked paragraphs, and graphs over them."""

from typing import Any

from flows.running.session import Session
from flows.stages.results import Articles, Examples, Graphs, Ranked, VocabularyTable
from models.tokenization.contract import TextForm
from storage import schemas
from tasks.engine.recipe import Recipe, only, same
from tasks.text.entities import pipeline_label

_NAMES = {"plain": "examples", "sentences": "sentence-examples", "slots": "slot-examples"}


def graphs(session: Session, ranked: Ranked, name: str | None = None) -> Graphs:
    """Compute the graphs of the ranked paragraphs."""
    settings, words = session.config.graphs, {"words": session.config.words}
    notes = {"entities": pipeline_label(settings.spacy_pipeline, settings.entity_types)}
    recipe = Recipe(schemas.GRAPHS, "tasks.summarization.graphs:build_graphs", settings, words, notes=notes)
    return Graphs(session.run.stage(recipe, shards=len(ranked.shards), inputs={"ranked": same(ranked)}, name=name))


def examples(
    session: Session,
    articles: Articles,
    ranked: Ranked,
    vocabulary: VocabularyTable,
    name: str | None = None,
    *,
    form: TextForm = "plain",
) -> Examples:
    """Turn the ranked paragraphs into token ids, of texts in the form that a summarizer reads."""
    arguments: dict[str, Any] = {} if form == "plain" else {"form": form}
    if session.config.examples.supported_by is not None:
        arguments["read"] = session.config.summarizer
    function = "tasks.summarization.examples:build_examples"
    recipe = Recipe(schemas.EXAMPLES, function, session.config.examples, arguments)
    inputs = {"articles": same(articles), "ranked": same(ranked), "vocabulary": only(vocabulary)}
    name = session.named(name or _NAMES[form])
    return Examples(session.run.stage(recipe, shards=len(ranked.shards), inputs=inputs, name=name))
