"""From articles to labelled candidate paragraphs and the vocabulary: the corpus (000 sec. 4, WikiSum Dataset)."""

from dataclasses import dataclass

from flows.running.session import Session
from flows.stages.imported import imported, imported_paragraphs
from flows.stages.intake import find_articles, read_documents
from storage import schemas
from tasks.crawl.frontier import build_frontier
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.stage import crawl_shard, find_archives, index_shard, look_up_shard
from tasks.engine.inputs import Input, StageResult, every, gathered, same, streamed
from tasks.engine.progress import ProgressLog
from tasks.extraction import extract_documents
from tasks.paragraphs.paragraphs import build_paragraphs
from tasks.ranking.features import compute_features
from tasks.search.providers import recorded_notes
from tasks.search.search import search_articles
from tasks.summarization.vocabulary import train_vocabulary


@dataclass(frozen=True)
class Corpus:
    """The stages that later flows read."""

    articles: StageResult
    paragraphs: StageResult
    features: StageResult
    vocabulary: StageResult


def corpus(session: Session) -> Corpus:
    """Walk the corpus's stages."""
    articles = session.once(find_articles)
    paragraphs = session.once(find_paragraphs)
    features = session.run.stage(
        schemas.FEATURES,
        compute_features,
        shards=len(articles.shards),
        inputs={"articles": same(articles), "paragraphs": same(paragraphs)},
        settings=session.config.features,
    )
    return Corpus(articles, paragraphs, features, session.once(vocabulary))


def vocabulary(session: Session) -> StageResult:
    """Estimate the vocabulary on leads and paragraphs, or take the one that is imported."""
    given = session.once(imported)
    if given is not None:
        return given.vocabulary
    return session.run.stage(
        schemas.VOCABULARY,
        train_vocabulary,
        shards=1,
        inputs={"shards": every(session.once(find_articles), session.once(find_paragraphs))},
        settings=session.config.vocabulary,
        arguments={"seed": session.config.seed},
    )


def find_paragraphs(session: Session) -> StageResult:
    """Take the documents of each article apart: those of the crawl, and those that the source gives."""
    decoded = session.once(imported_paragraphs)
    if decoded is not None:
        return decoded
    documents = {"documents": gathered(session.once(fetch_documents))}
    given = session.once(read_documents)
    if given is not None:
        documents["given"] = gathered(given)
    return session.run.stage(
        schemas.PARAGRAPHS,
        build_paragraphs,
        shards=session.config.shards.articles,
        inputs={"articles": same(session.once(find_articles)), **documents},
        settings=session.config.paragraphs,
    )


def fetch_documents(session: Session) -> StageResult:
    """Search, crawl host by host, and extract the text of every page."""
    config, stage, shards = session.config, session.run.stage, session.config.shards
    articles = session.once(find_articles)
    search = stage(
        schemas.SEARCH,
        search_articles,
        shards=shards.articles,
        inputs={"articles": same(articles)},
        settings=config.search,
        notes=recorded_notes(config.search),
        context={"connect_to": session.connect_to},
        scratch="scratch",
    )
    frontier = stage(
        schemas.FRONTIER,
        build_frontier,
        shards=shards.articles,
        inputs={"articles": same(articles), "search": same(search)},
        settings=_only(config.crawl, "mirror_hosts", "allowed_hosts"),
        arguments={"host_shards": shards.hosts},
        shard_argument="article_shard",
    )
    crawled: dict[str, Input] = {"frontier": gathered(frontier)}
    files = find_archives(config.crawl)
    if files:
        captures = stage(
            schemas.CAPTURES,
            index_shard,
            shards=len(files),
            inputs={},
            settings=_only(config.crawl, "allowed_hosts", "max_decoded_archive_bytes"),
            arguments={"host_shards": shards.hosts},
            per_shard={"file": files},
        )
        crawled["captures"] = gathered(captures)
    if config.crawl.common_crawl.indexes:
        indexed = stage(
            schemas.CAPTURES,
            look_up_shard,
            shards=shards.hosts,
            inputs={"frontier": gathered(frontier)},
            settings=config.crawl,
            shard_argument="shard",
            context={"connect_to": session.connect_to, "progress": ProgressLog("look-ups")},
            scratch="scratch",
            name="captures-indexed",
        )
        crawled["indexed"] = same(indexed)
    pages = stage(
        schemas.PAGES,
        crawl_shard,
        shards=shards.hosts,
        inputs=crawled,
        settings=config.crawl,
        arguments={"host_shards": shards.hosts},
        shard_argument="shard",
        context={
            "root": session.run.store.root,
            "connect_to": session.connect_to,
            "progress": ProgressLog("pages"),
        },
        scratch="scratch",
    )
    return stage(
        schemas.DOCUMENTS,
        extract_documents,
        shards=shards.hosts,
        inputs={"frontier": gathered(frontier), "pages": streamed(pages)},
        settings=config.extraction,
    )


def _only(crawl: CrawlSettings, *names: str) -> CrawlSettings:
    """Return the crawl's settings that a stage reads, the others at their defaults, so that they change no key."""
    return CrawlSettings.model_validate({name: getattr(crawl, name) for name in names})
