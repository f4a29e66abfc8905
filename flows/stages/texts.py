"""From pages to labelled candidate paragraphs and the vocabulary (Liu & Lapata 2019, sec. 4, WikiSum Dataset)."""

from dataclasses import dataclass

from flows.running.session import Session
from storage import schemas
from tasks.engine.inputs import Input, StageResult, every, gathered, same
from tasks.extraction import extract_documents
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.ranking.features import compute_features
from tasks.summarization.vocabulary import train_vocabulary


@dataclass(frozen=True)
class Corpus:
    """Articles, their candidate paragraphs with labels, and the vocabulary."""

    articles: StageResult
    paragraphs: StageResult
    features: StageResult
    vocabulary: StageResult


def documents(session: Session, frontier: StageResult, pages: StageResult) -> StageResult:
    """Extract the text of every page for each article that cites it."""
    return session.run.stage(
        schemas.DOCUMENTS,
        extract_documents,
        shards=len(pages.shards),
        inputs={"frontier": gathered(frontier), "pages": same(pages, batches=True)},
        settings=session.config.extraction,
    )


def paragraphs(
    session: Session, articles: StageResult, documents: StageResult, given: StageResult | None
) -> StageResult:
    """Take the documents of each article apart: those of the crawl, and those that the source gives."""
    read: dict[str, Input] = {"articles": same(articles), "documents": gathered(documents)}
    if given is not None:
        read["given"] = gathered(given)
    return session.run.stage(
        schemas.PARAGRAPHS,
        build_paragraphs,
        shards=len(articles.shards),
        inputs=read,
        settings=session.config.paragraphs,
    )


def features(session: Session, articles: StageResult, paragraphs: StageResult, name: str | None = None) -> StageResult:
    """Label every paragraph by what it shares with the lead, and compare it with the title."""
    return session.run.stage(
        schemas.FEATURES,
        compute_features,
        shards=len(articles.shards),
        inputs={"articles": same(articles), "paragraphs": same(paragraphs)},
        settings=session.config.features,
        name=name,
    )


def vocabulary(session: Session, articles: StageResult, paragraphs: StageResult) -> StageResult:
    """Estimate the vocabulary on leads and paragraphs."""
    return session.run.stage(
        schemas.VOCABULARY,
        train_vocabulary,
        shards=1,
        inputs={"shards": every(articles, paragraphs)},
        settings=session.config.vocabulary,
        arguments={"seed": session.config.seed},
    )
