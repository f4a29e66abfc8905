"""The pages that articles cite and that searches find: search, frontier, their captures in archives (an index of the
settings' archive files, and look-ups in Common Crawl's index), and the crawl host by host."""

from dataclasses import replace
from typing import Any

from prefect import get_run_logger

from flows.running.display import current_flow_run
from flows.running.estimates import host_lines
from flows.running.session import Session
from flows.stages.results import Articles, Captures, FetchedPages, Frontier, IndexedCaptures, SearchResults
from storage import schemas
from tasks.archives.archive import find_archives
from tasks.archives.columnar import find_tables
from tasks.engine.recipe import Input, Recipe, every, gathered, same
from tasks.fetching.http import Patience
from tasks.fetching.settings import CrawlSettings
from tasks.fetching.visit import MAX_REDIRECTS
from tasks.search.search import local_notes

_INDEXED = "captures-indexed"
_MINIWEB = Patience(backoff_seconds=0.05)  # its server is in this process


def captures(session: Session) -> Captures | None:
    """Index the archive files that the settings name; None if they name none."""
    files = find_archives(session.config.crawl)
    if not files:
        return None
    settings = part_of(session.config.crawl, "allowed_hosts")
    function, arguments = "tasks.archives.archive:index_archive", {"host_shards": session.config.shards.hosts}
    recipe = Recipe(schemas.CAPTURES, function, settings, arguments, per_shard={"file": files})
    return Captures(session.run.stage(recipe, shards=len(files), inputs={}))


def indexed_captures(session: Session, frontier: Frontier) -> tuple[IndexedCaptures, ...]:
    """Look up the frontier's URLs, and what they redirect to, in the indexes of Common Crawl; none if the settings name
    no index."""
    if session.config.crawl.common_crawl.tables:
        return _captures_in_tables(session, frontier)
    if not session.config.crawl.common_crawl.indexes:
        return ()
    hosts, inputs = session.config.shards.hosts, {"frontier": gathered(frontier)}
    context = {"connect_to": session.connect_to, "progress": session.progress("look-ups")}
    function, per_shard = "tasks.archives.common_crawl:look_up_shard", {"shard": range(hosts)}
    recipe = Recipe(schemas.CAPTURES, function, session.config.crawl, per_shard=per_shard)
    found = session.run.stage(recipe, shards=hosts, inputs=inputs, context=context, scratch="scratch", name=_INDEXED)
    return (IndexedCaptures(found),)


def _captures_in_tables(session: Session, frontier: Frontier) -> tuple[IndexedCaptures, ...]:
    """Look the URLs up in the columnar index, file by file: for that they are regrouped from hosts to files. Further
    passes look up what redirects lead to, as many as the crawl of the web follows, or until none leads on."""
    wanted = ("common_crawl", "user_agent", "contact", "ca_bundle", "allowed_hosts")
    crawl, context = part_of(session.config.crawl, *wanted), {"connect_to": session.connect_to}
    tables = find_tables(crawl, session.connect_to)
    recipe = Recipe(schemas.INDEX_FILES, "tasks.archives.columnar:index_files", per_shard={"table": tables})
    index = session.run.stage(recipe, shards=len(tables), inputs={}, context={**context, "settings": crawl})
    hosts, files = session.config.shards.hosts, [file for table in tables for file in table]
    seeking = Recipe(schemas.URL_LOOKUPS, "tasks.archives.columnar_sought:seek", per_shard={"shard": range(hosts)})
    looking = Recipe(schemas.CAPTURES, "tasks.archives.columnar:look_up_in_file", crawl, per_shard={"file": files})
    passes: list[IndexedCaptures] = []
    for number in range(MAX_REDIRECTS + 1):
        inputs = {"frontier": gathered(frontier), "index": every(index)}
        if passes:
            inputs["captures"] = gathered(passes[-1])
        if earlier := passes[:-1]:
            inputs["earlier"] = gathered(*earlier)
        name = f"-redirects-{number}" if number else ""
        lookups = session.run.stage(seeking, shards=hosts, inputs=inputs, name=f"{seeking.name}{name}")
        if number and lookups.complete and not any(record.written.rows for record in lookups.in_order):
            break
        reading = {"lookups": gathered(lookups)}
        found = session.run.stage(looking, shards=len(files), inputs=reading, context=context, name=f"{_INDEXED}{name}")
        passes.append(IndexedCaptures(found))
        if not found.complete:  # a plan: how many passes follow is not known
            break
    return tuple(passes)


def part_of(crawl: CrawlSettings, *names: str) -> CrawlSettings:
    """Return the crawl's settings that a stage reads; the others have their defaults, so that they change no key."""
    return CrawlSettings.model_validate({name: getattr(crawl, name) for name in names})


def search(session: Session, articles: Articles) -> SearchResults:
    """Search for the title of every article."""
    settings = session.config.search
    recipe = Recipe(schemas.SEARCH, "tasks.search.search:search_articles", settings, notes=local_notes(settings))
    contact, account = session.config.crawl.contact, session.run.account
    context = {"connect_to": session.connect_to, "contact": contact, "account": account}
    inputs, count = {"articles": same(articles)}, len(articles.shards)
    return SearchResults(session.run.stage(recipe, shards=count, inputs=inputs, context=context, scratch="scratch"))


def frontier(session: Session, articles: Articles, search: SearchResults) -> Frontier:
    """List the URLs of every article, grouped by the shard of their host."""
    settings = part_of(session.config.crawl, "mirror_hosts", "allowed_hosts")
    hosts, per_shard = {"host_shards": session.config.shards.hosts}, {"article_shard": range(len(articles.shards))}
    recipe = Recipe(schemas.FRONTIER, "tasks.crawl.frontier:build_frontier", settings, hosts, per_shard=per_shard)
    inputs = {"articles": same(articles), "search": same(search)}
    return Frontier(session.run.stage(recipe, shards=len(articles.shards), inputs=inputs))


def pages(
    session: Session,
    frontier: Frontier,
    captures: Captures | None,
    indexed: tuple[IndexedCaptures, ...],
    patience: Patience | None = None,
) -> FetchedPages:
    """Fetch every URL once, from archives if they have it. `patience`: with servers; None = the crawl's."""
    inputs: dict[str, Input] = {"frontier": gathered(frontier)}
    if captures is not None:
        inputs["captures"] = gathered(captures)
    if indexed:  # by file of the columnar index, or by host shard
        inputs["indexed"] = gathered(*indexed) if session.config.crawl.common_crawl.tables else same(indexed[0])
    context: dict[str, Any] = {
        "root": session.run.store.root,
        "connect_to": session.connect_to,
        "progress": session.progress("pages"),
    }
    if patience is None and session.config.miniweb is not None:
        patience = _MINIWEB
    if patience is not None:
        context["patience"] = patience
    shards = session.config.shards.hosts
    crawl, hosts, per_shard = session.config.crawl, {"host_shards": shards}, {"shard": range(shards)}
    recipe = Recipe(schemas.PAGES, "tasks.crawl.crawl:crawl_shard", crawl, hosts, per_shard=per_shard)
    if current_flow_run() is not None:
        fresh: dict[str, Any] = {"plans": [], "stages": {frontier.stage: frontier}, "directories": {}, "inputs": {}}
        plan = replace(session.run, planning=True, **fresh)
        plan.stage(recipe, shards=shards, inputs=inputs)
        for line in host_lines(plan, session.config.crawl):
            get_run_logger().info("%s", line)
    return FetchedPages(session.run.stage(recipe, shards=shards, inputs=inputs, context=context, scratch="scratch"))
