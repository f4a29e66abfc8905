"""What articles share: near-duplicates, by way of buckets, and what of held-out articles is in training sources."""

from flows.running.session import Session
from flows.stages.results import Articles, Compared, Overlaps, Paragraphs
from storage import schemas
from tasks.across.refusals import COMPARED
from tasks.engine.recipe import Recipe, every, gathered, only, same


def overlaps(session: Session, articles: Articles, paragraphs: Paragraphs) -> Overlaps | None:
    """Find what the paragraphs and documents of each article share with others; None where nothing asks for it."""
    if not session.config.across.on:
        return None
    run, words, count = session.run, session.config.words, len(articles.shards)
    lead_ngrams = run.stage(
        Recipe(schemas.LEAD_NGRAMS, "tasks.across.overlaps:collect_lead_ngrams", arguments={"words": words}),
        shards=1,
        inputs={"shards": every(articles)},
    )
    sketches = run.stage(
        Recipe(
            schemas.SKETCHES,
            "tasks.across.overlaps:sketch_paragraphs",
            arguments={"words": words, "buckets": count},
            per_shard={"article_shard": range(count)},
        ),
        shards=count,
        inputs={"articles": same(articles), "paragraphs": same(paragraphs)},
    )
    twins = run.stage(
        Recipe(schemas.TWINS, "tasks.across.overlaps:match_sketches"),
        shards=count,
        inputs={"sketches": gathered(sketches)},
    )
    twin_words = run.stage(
        Recipe(schemas.TWIN_WORDS, "tasks.across.overlaps:attach_words", arguments={"words": words}),
        shards=count,
        inputs={"paragraphs": same(paragraphs), "twins": gathered(twins)},
    )
    recipe = Recipe(schemas.OVERLAPS, "tasks.across.overlaps:find_overlaps", arguments={"words": words})
    inputs = {"articles": same(articles), "paragraphs": same(paragraphs)}
    inputs |= {"twin_words": gathered(twin_words), "lead_ngrams": only(lead_ngrams)}
    return session.stage(Overlaps, recipe, shards=count, inputs=inputs)


def compared(session: Session, paragraphs: Paragraphs, overlaps: Overlaps | None) -> Compared:
    """Refuse paragraphs by what they share; the same paragraphs where nothing is to be refused."""
    settings = session.config.across
    if overlaps is None or not settings.refuses:
        return Compared(paragraphs)
    recipe = Recipe(schemas.PARAGRAPHS, "tasks.across.refusals:refuse_overlaps", settings=settings)
    inputs = {"paragraphs": same(paragraphs), "overlaps": same(overlaps)}
    return session.stage(Compared, recipe, shards=len(paragraphs.shards), inputs=inputs, name=COMPARED)
