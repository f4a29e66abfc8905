"""Publish a build's artifacts again from its records, for a new server or after a server has deleted old runs."""

from flows.config import name_of
from flows.running.display import tagged
from flows.running.notification import notifying_flow
from flows.running.temporary_server import use_prefect_api
from storage.builds import Build
from storage.directories import DirectoryRecord, find_directory
from storage.errors import StorageError
from storage.store import Store
from tasks.engine.recipe import finished_build, finished_stage
from tasks.engine.stage import StagePlan
from tasks.reporting.overview import publish_overview
from tasks.reporting.publishing import publish_parts, publish_stage, publish_training
from tasks.retraining.card import publish_versions


@notifying_flow("republish", "republish-{build}")
def republish(root: str, build: str | None = None) -> str:
    """Publish a build's artifacts and the pages of all versions; return a line. Raises StorageError: one is missing.

    Args:
        root: folder or URI of the builds.
        build: name of the build; empty: the latest one."""
    store = Store(root)
    result = finished_build(store, build)
    corpus = name_of(result.config, root)
    with tagged(corpus):
        stages = {name: finished_stage(store, result, name) for name in result.stages}
        for name, stage in stages.items():
            publish_stage(stage, StagePlan(name, len(stage.shards), len(stage.shards), 0), corpus)
        directories = {name: _directory(store, result, name) for name in result.models}
        for record in directories.values():
            publish_training(store, record, corpus)
            publish_parts(store, record, corpus)
        versions = publish_versions(store, corpus)
        publish_overview(result, corpus, {name: item.in_order for name, item in stages.items()}, directories)
    counts = f"{len(stages)} stages, {len(directories)} directories, {versions} versions"
    return f"{corpus}: published build {result.name}, {counts}"


def _directory(store: Store, build: Build, name: str) -> DirectoryRecord:
    record = find_directory(store, build.models[name])
    if record is None:
        raise StorageError(f"{build.models[name]}, which build {build.name} names, is missing below {store.root}")
    return record


def run(root: str, build: str | None) -> None:
    """Publish, and print what was published; mistakes are reported before a server starts."""
    store = Store(root)
    result = finished_build(store, build)
    use_prefect_api()
    print(republish(root, result.name))
