"""The overview of a build in the Prefect UI: its lineage, and an index that links its artifacts in pipeline order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storage.builds import Build, summarise
from storage.directories import DirectoryRecord
from storage.recipes import ShardRecord
from tasks.engine.artifact_keys import artifact_key
from tasks.reporting.lineage import lineage_section
from tasks.reporting.markdown import artifact, escape
from tasks.reporting.origins import Origin, trace
from tasks.reporting.publishing import (
    ARTIFACTS,
    METRICS,
    failures_key,
    publish_page,
    report_key,
    stage_key,
    training_key,
)

LINEAGE, INDEX = "lineage", "index"


@dataclass(frozen=True)
class IndexEntry:
    """A line of the index: what it is about, the key of its artifact, and what that shows."""

    name: str
    key: str
    shows: str


def publish_overview(
    build: Build, corpus: str, stages: Mapping[str, Sequence[ShardRecord]], directories: Mapping[str, DirectoryRecord]
) -> None:
    """Publish lineage and index of a finished build; its other artifacts are published already."""
    origins = trace(stages, directories)
    entries = list(index_entries(corpus, origins, stages, directories))
    publish_page(
        corpus,
        LINEAGE,
        artifact([lineage_section(build.name, origins)]),
        f"{corpus}: what build {build.name} was made from, stage by stage.",
    )
    publish_page(
        corpus,
        INDEX,
        index_page(build, corpus, entries),
        f"{corpus}: the artifacts of build {build.name} in pipeline order.",
    )


def index_entries(
    corpus: str,
    origins: Sequence[Origin],
    stages: Mapping[str, Sequence[ShardRecord]],
    directories: Mapping[str, DirectoryRecord],
) -> Iterator[IndexEntry]:
    """Yield what the index links, in the order in which a build is made."""
    for origin in origins:
        if origin.name in stages:
            summary = summarise(stages[origin.name])
            refused = sum(summary["drops"].values())
            shows = (
                f"{summary['rows']:,} rows in {origin.shards:,} shard{'s' * (origin.shards != 1)}, {refused:,} refused"
            )
            yield IndexEntry(origin.name, stage_key(corpus, origin.name), shows)
            if summary["worst"]:
                yield IndexEntry(
                    f"{origin.name}: failures", failures_key(corpus, origin.name), "where most rows were refused"
                )
            continue
        record = directories[origin.name]
        if METRICS in record.files:
            yield IndexEntry(origin.name, training_key(corpus, record.name), "training curves")
        for file in record.files:
            if file.startswith(ARTIFACTS):
                key = report_key(corpus, file)
                part = key.removeprefix(artifact_key(corpus, "report-")).strip("-")
                yield IndexEntry(f"{origin.name}: {part}", key, "a part of the report")
    yield IndexEntry("lineage", artifact_key(corpus, LINEAGE), "what each stage was made from, by digests")


def index_page(build: Build, corpus: str, entries: Sequence[IndexEntry]) -> str:
    """Return the index as Markdown; links are relative, for both UIs and wherever they are served."""
    rows = [f"| {escape(one.name)} | [{one.key}](../key/{one.key}) | {escape(one.shows)} |" for one in entries]
    return "\n".join(
        [
            f"## {escape(f'{corpus}: build {build.name}')}",
            "",
            "An artifact keeps its history: the newest entry of a page is that of the last run that published it.",
            "",
            "| part | artifact | shows |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )
