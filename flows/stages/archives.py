"""Captures of pages in archives: an index of the settings' archive files, and look-ups in Common Crawl's index."""

from flows.running.session import Session
from storage import schemas
from tasks.crawl.settings import CrawlSettings
from tasks.crawl.stage import find_archives
from tasks.engine.inputs import StageResult, gathered
from tasks.engine.recipe import Recipe


def captures(session: Session) -> StageResult | None:
    """Index the archive files that the settings name; None if they name none."""
    files = find_archives(session.config.crawl)
    if not files:
        return None
    return session.run.stage(
        Recipe(
            schemas.CAPTURES,
            "tasks.crawl.stage:index_shard",
            settings=part_of(session.config.crawl, "allowed_hosts", "max_decoded_archive_bytes"),
            arguments={"host_shards": session.config.shards.hosts},
            per_shard={"file": files},
        ),
        shards=len(files),
        inputs={},
    )


def indexed_captures(session: Session, frontier: StageResult) -> StageResult | None:
    """Look up the frontier's URLs in the indexes of Common Crawl; None if the settings name none."""
    if not session.config.crawl.common_crawl.indexes:
        return None
    return session.run.stage(
        Recipe(
            schemas.CAPTURES,
            "tasks.crawl.stage:look_up_shard",
            settings=session.config.crawl,
            per_shard={"shard": range(session.config.shards.hosts)},
        ),
        shards=session.config.shards.hosts,
        inputs={"frontier": gathered(frontier)},
        context={"connect_to": session.connect_to, "progress": session.progress("look-ups")},
        scratch="scratch",
        name="captures-indexed",
    )


def part_of(crawl: CrawlSettings, *names: str) -> CrawlSettings:
    """Return the crawl's settings that a stage reads; the others have their defaults, so that they change no key."""
    return CrawlSettings.model_validate({name: getattr(crawl, name) for name in names})
