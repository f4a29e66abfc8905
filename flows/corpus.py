"""From articles to labelled candidate paragraphs and the vocabulary: the corpus (000 sec. 4, WikiSum Dataset)."""

from dataclasses import dataclass

from flows.session import Session
from storage import schemas
from tasks.articles import merge_articles, read_articles
from tasks.crawl.frontier import build_frontier
from tasks.crawl.stage import crawl_shard, find_archives, index_shard
from tasks.extraction import extract_documents
from tasks.features import compute_features
from tasks.inputs import Input, StageResult, every, gathered, same, streamed
from tasks.paragraphs import build_paragraphs
from tasks.progress import ProgressLog
from tasks.search.search import search_articles
from tasks.sources import open_source
from tasks.vocabulary import train_vocabulary


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
    documents = session.once(fetch_documents)
    config, stage, shards = session.config, session.run.stage, session.config.shards
    paragraphs = stage(
        schemas.PARAGRAPHS,
        build_paragraphs,
        shards=shards.articles,
        inputs={"articles": same(articles), "documents": gathered(documents)},
        settings=config.paragraphs,
    )
    features = stage(
        schemas.FEATURES,
        compute_features,
        shards=shards.articles,
        inputs={"articles": same(articles), "paragraphs": same(paragraphs)},
        settings=config.features,
    )
    vocabulary = stage(
        schemas.VOCABULARY,
        train_vocabulary,
        shards=1,
        inputs={"shards": every(articles, paragraphs)},
        settings=config.vocabulary,
        arguments={"seed": config.seed},
    )
    return Corpus(articles, paragraphs, features, vocabulary)


def find_articles(session: Session) -> StageResult:
    """Read the source's partitions and regroup its articles by shard."""
    config, stage = session.config, session.run.stage
    partitions = open_source(config.source).partitions()
    intake = stage(
        schemas.INTAKE,
        read_articles,
        shards=len(partitions),
        inputs={},
        per_shard={"partition": partitions},
        arguments={
            "source_name": config.source.kind,
            "article_shards": config.shards.articles,
            "seed": config.seed,
            "search_will_follow": config.search.provider != "none",
        },
        context={"source": config.source},
    )
    return stage(schemas.ARTICLES, merge_articles, shards=config.shards.articles, inputs={"parts": gathered(intake)})


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
        context={"connect_to": session.connect_to},
    )
    frontier = stage(
        schemas.FRONTIER,
        build_frontier,
        shards=shards.articles,
        inputs={"articles": same(articles), "search": same(search)},
        settings=config.crawl,
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
            settings=config.crawl,
            arguments={"host_shards": shards.hosts},
            per_shard={"file": files},
        )
        crawled["captures"] = gathered(captures)
    pages = stage(
        schemas.PAGES,
        crawl_shard,
        shards=shards.hosts,
        inputs=crawled,
        settings=config.crawl,
        context={"connect_to": session.connect_to, "progress": ProgressLog("pages")},
        scratch="scratch",
    )
    return stage(
        schemas.DOCUMENTS,
        extract_documents,
        shards=shards.hosts,
        inputs={"frontier": gathered(frontier), "pages": streamed(pages)},
        settings=config.extraction,
    )
