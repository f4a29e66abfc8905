"""The pages that articles cite and that searches find: search, frontier, and the crawl host by host."""

from prefect import get_run_logger

from flows.running.estimates import host_lines
from flows.running.graph import current_flow_run
from flows.running.session import Session
from flows.stages.archives import looked_up, part_of
from flows.stages.results import Articles, Captures, FetchedPages, Frontier, IndexedCaptures, SearchResults
from storage import schemas
from tasks.engine.inputs import Input, gathered, same
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Run
from tasks.search.providers import recorded_notes


def search(session: Session, articles: Articles) -> SearchResults:
    """Search for the title of every article."""
    settings = session.config.search
    recipe = Recipe(
        schemas.SEARCH, "tasks.search.search:search_articles", settings=settings, notes=recorded_notes(settings)
    )
    return SearchResults(
        session.run.stage(
            recipe,
            shards=len(articles.shards),
            inputs={"articles": same(articles)},
            context={"connect_to": session.connect_to, "contact": session.config.crawl.contact},
            scratch="scratch",
        )
    )


def frontier(session: Session, articles: Articles, search: SearchResults) -> Frontier:
    """List the URLs of every article, grouped by the shard of their host."""
    recipe = Recipe(
        schemas.FRONTIER,
        "tasks.crawl.frontier:build_frontier",
        settings=part_of(session.config.crawl, "mirror_hosts", "allowed_hosts"),
        arguments={"host_shards": session.config.shards.hosts},
        per_shard={"article_shard": range(len(articles.shards))},
    )
    return Frontier(
        session.run.stage(
            recipe, shards=len(articles.shards), inputs={"articles": same(articles), "search": same(search)}
        )
    )


def pages(
    session: Session, frontier: Frontier, captures: Captures | None, indexed: IndexedCaptures | None
) -> FetchedPages:
    """Fetch every URL once, from archives if they have it."""
    inputs: dict[str, Input] = {"frontier": gathered(frontier)}
    if captures is not None:
        inputs["captures"] = gathered(captures)
    if indexed is not None:
        inputs["indexed"] = looked_up(session, indexed)
    context = {"root": session.run.store.root, "connect_to": session.connect_to, "progress": session.progress("pages")}
    shards = session.config.shards.hosts
    recipe = Recipe(
        schemas.PAGES,
        "tasks.crawl.stage:crawl_shard",
        settings=session.config.crawl,
        arguments={"host_shards": shards},
        per_shard={"shard": range(shards)},
    )
    if current_flow_run() is not None:
        plan = Run(session.run.store, session.executor, planning=True, stages={frontier.stage: frontier})
        plan.stage(recipe, shards=shards, inputs=inputs)
        for line in host_lines(plan, session.config.crawl):
            get_run_logger().info("%s", line)
    made = session.run.stage(recipe, shards=shards, inputs=inputs, context=context, scratch="scratch")
    return FetchedPages(made)
