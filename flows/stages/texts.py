"""From pages to labelled candidate paragraphs and the vocabulary (Liu & Lapata 2019, sec. 4, WikiSum Dataset)."""

from dataclasses import dataclass

from flows.running.session import Session
from storage import schemas
from tasks.engine.inputs import Input, StageResult, every, gathered, same
from tasks.engine.recipe import Recipe


@dataclass(frozen=True)
class Corpus:
    """Articles, their candidate paragraphs with labels, and the vocabulary."""

    articles: StageResult
    paragraphs: StageResult
    features: StageResult
    vocabulary: StageResult

    @property
    def stages(self) -> tuple[StageResult, ...]:
        """All stages of the corpus."""
        return (self.articles, self.paragraphs, self.features, self.vocabulary)


def documents(session: Session, frontier: StageResult, pages: StageResult) -> StageResult:
    """Extract the text of every page for each article that cites it."""
    return session.run.stage(
        Recipe(schemas.DOCUMENTS, "tasks.extraction.documents:extract_documents", settings=session.config.extraction),
        shards=len(pages.shards),
        inputs={"frontier": gathered(frontier), "pages": same(pages, batches=True)},
    )


def paragraphs(
    session: Session, articles: StageResult, documents: StageResult, given: StageResult | None
) -> StageResult:
    """Split the documents of each article into paragraphs: those of the crawl, and those of the source."""
    inputs: dict[str, Input] = {"articles": same(articles), "documents": gathered(documents)}
    if given is not None:
        inputs["given"] = gathered(given)
    return session.run.stage(
        Recipe(
            schemas.PARAGRAPHS,
            "tasks.paragraphs.paragraphs:build_paragraphs",
            settings=session.config.paragraphs,
            arguments={"words": session.config.words},
        ),
        shards=len(articles.shards),
        inputs=inputs,
    )


def features(session: Session, articles: StageResult, paragraphs: StageResult, name: str | None = None) -> StageResult:
    """Label every paragraph by its ROUGE-2 recall of the lead, and compute its similarity with the title."""
    return session.run.stage(
        Recipe(schemas.FEATURES, "tasks.ranking.features:compute_features", arguments={"words": session.config.words}),
        shards=len(articles.shards),
        inputs={"articles": same(articles), "paragraphs": same(paragraphs)},
        name=name,
    )


def vocabulary(session: Session, articles: StageResult, paragraphs: StageResult) -> StageResult:
    """Estimate the vocabulary on leads and paragraphs, or take that of a folder."""
    if (given := session.config.tokenizer_folder) is not None:
        from tasks.summarization.folders import folder_vocabulary  # here, because it loads tokenizers

        words = folder_vocabulary(*given)
        return session.run.stage(
            Recipe(
                schemas.VOCABULARY,
                "tasks.summarization.vocabulary:adopt_vocabulary",
                notes={"tokenizer": words.kind, "tokenizer_sha256": words.digest},
            ),
            shards=1,
            inputs={},
            context={"folder": given[0]},
        )
    return session.run.stage(
        Recipe(
            schemas.VOCABULARY,
            "tasks.summarization.vocabulary:train_vocabulary",
            settings=session.config.vocabulary,
            arguments={"seed": session.config.seed},
        ),
        shards=1,
        inputs={"shards": every(articles, paragraphs)},
    )
