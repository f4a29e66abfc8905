"""From pages to labelled candidate paragraphs and the vocabulary (Liu & Lapata 2019, sec. 4, WikiSum Dataset). Between
them are the stages for what articles share: near-duplicates, by way of buckets, and leaks of held-out articles into
training sources."""

from typing import NamedTuple

from flows.running.session import Session
from flows.stages import results
from storage import schemas
from tasks.engine.recipe import Input, Recipe, every, gathered, only, same
from tasks.near_duplicates.refusals import COMPARED


class CandidateParagraphs(NamedTuple):
    """The paragraphs that a ranker may choose from, and what articles share; None if nothing asks for it."""

    compared: results.Compared
    overlaps: results.Overlaps | None = None


class CorpusStages(NamedTuple):
    """Articles, their candidate paragraphs with labels, and the vocabulary."""

    articles: results.Articles
    paragraphs: results.Compared
    features: results.Features
    vocabulary: results.VocabularyTable


def documents(session: Session, frontier: results.Frontier, pages: results.FetchedPages) -> results.Documents:
    """Extract the text of every page for each article that cites it."""
    recipe = Recipe(schemas.DOCUMENTS, "tasks.extraction.documents:extract_documents", session.config.extraction)
    inputs = {"frontier": gathered(frontier), "pages": same(pages, batches=True)}
    return results.Documents(session.run.stage(recipe, shards=len(pages.shards), inputs=inputs))


def paragraphs(
    session: Session, articles: results.Articles, documents: results.Documents, given: results.GivenDocuments | None
) -> results.Paragraphs:
    """Split the documents of each article into paragraphs: those of the crawl, and those of the source."""
    inputs: dict[str, Input] = {"articles": same(articles), "documents": gathered(documents)}
    if given is not None:
        inputs["given"] = gathered(given)
    settings, words = session.config.paragraphs, {"words": session.config.words}
    recipe = Recipe(schemas.PARAGRAPHS, "tasks.paragraphs.paragraphs:build_paragraphs", settings, words)
    return results.Paragraphs(session.run.stage(recipe, shards=len(articles.shards), inputs=inputs))


def features(
    session: Session, articles: results.Articles, paragraphs: results.Compared, name: str | None = None
) -> results.Features:
    """Label every paragraph by its ROUGE-2 recall of the lead, and compute its similarity with the title."""
    words = {"words": session.config.words}
    recipe = Recipe(schemas.FEATURES, "tasks.ranking.features:compute_features", arguments=words)
    inputs = {"articles": same(articles), "paragraphs": same(paragraphs, batches=True)}
    return results.Features(session.run.stage(recipe, shards=len(articles.shards), inputs=inputs, name=name))


def vocabulary(session: Session, articles: results.Articles, paragraphs: results.Compared) -> results.VocabularyTable:
    """Estimate the vocabulary on leads and paragraphs, or take that of a folder."""
    name = session.named("vocabulary")
    if (given := session.config.tokenizer_folder) is not None:
        from tasks.summarization.fresh_model import folder_vocabulary  # here, because it loads tokenizers

        words = folder_vocabulary(*given)
        notes, context = {"tokenizer": words.kind, "tokenizer_sha256": words.digest}, {"folder": given[0]}
        recipe = Recipe(schemas.VOCABULARY, "tasks.summarization.vocabulary:adopt_vocabulary", notes=notes)
        return results.VocabularyTable(session.run.stage(recipe, shards=1, inputs={}, context=context, name=name))
    settings, seed = session.config.vocabulary, {"seed": session.config.seed}
    recipe = Recipe(schemas.VOCABULARY, "tasks.summarization.vocabulary:train_vocabulary", settings, seed)
    inputs = {"shards": every(articles, paragraphs)}
    return results.VocabularyTable(session.run.stage(recipe, shards=1, inputs=inputs, name=name))


def overlaps(session: Session, articles: results.Articles, paragraphs: results.Paragraphs) -> results.Overlaps | None:
    """Find what the paragraphs and documents of each article share with others; None if nothing asks for it."""
    if not session.config.across.on:
        return None
    run, words, count = session.run, {"words": session.config.words}, len(articles.shards)
    recipe = Recipe(schemas.LEAD_NGRAMS, "tasks.near_duplicates.overlaps:collect_lead_ngrams", arguments=words)
    lead_ngrams = run.stage(recipe, shards=1, inputs={"shards": every(articles)})
    inputs = {"articles": same(articles), "paragraphs": same(paragraphs)}
    arguments, per_shard = {**words, "buckets": count}, {"article_shard": range(count)}
    function = "tasks.near_duplicates.overlaps:sketch_paragraphs"
    recipe = Recipe(schemas.SKETCHES, function, arguments=arguments, per_shard=per_shard)
    sketches = run.stage(recipe, shards=count, inputs=inputs)
    recipe = Recipe(schemas.TWINS, "tasks.near_duplicates.overlaps:match_sketches")
    twins = run.stage(recipe, shards=count, inputs={"sketches": gathered(sketches)})
    recipe = Recipe(schemas.TWIN_WORDS, "tasks.near_duplicates.overlaps:attach_words", arguments=words)
    own = {"paragraphs": same(paragraphs), "twins": gathered(twins)}
    twin_words = run.stage(recipe, shards=count, inputs=own)
    recipe = Recipe(schemas.OVERLAPS, "tasks.near_duplicates.overlaps:find_overlaps", arguments=words)
    inputs |= {"twin_words": gathered(twin_words), "lead_ngrams": only(lead_ngrams)}
    return results.Overlaps(session.run.stage(recipe, shards=count, inputs=inputs))


def compared(session: Session, paragraphs: results.Paragraphs, overlaps: results.Overlaps | None) -> results.Compared:
    """Refuse paragraphs by what they share; the same paragraphs where nothing is to be refused."""
    settings = session.config.across
    if overlaps is None or not settings.refuses:
        return results.Compared(paragraphs)
    recipe = Recipe(schemas.PARAGRAPHS, "tasks.near_duplicates.refusals:refuse_overlaps", settings=settings)
    inputs = {"paragraphs": same(paragraphs), "overlaps": same(overlaps)}
    return results.Compared(session.run.stage(recipe, shards=len(paragraphs.shards), inputs=inputs, name=COMPARED))
