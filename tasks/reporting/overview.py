"""The overview of a build in the Prefect UI: its lineage, and an index that links its artifacts in pipeline order.

Lineage is where a build's data comes from: stage -> shards -> digests -> build, read from the records of shards and
models. Nothing is drawn from the code: a stage reads another if one of its records names a digest of the other's
shards. So the picture proves what a build was made of, also years later and for builds of other versions of the
code."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, PathPatch
from matplotlib.path import Path

from storage.builds import Build, summarise
from storage.directories import DirectoryRecord
from storage.recipes import ShardRecord
from tasks.reporting.blocks import WORDS, Block, Picture, ReportSection, Row, Text, table_of
from tasks.reporting.markdown import artifact, escape
from tasks.reporting.plots import COLORS, INK, draw
from tasks.reporting.publishing import (
    ARTIFACTS,
    METRICS,
    SPENDING,
    artifact_key,
    failures_key,
    part_name,
    publish_page,
    stage_key,
    training_key,
)

LINEAGE, INDEX = "lineage", "index"
_DIGITS = 12  # of a digest that people compare
# The picture of the lineage has a row for each step of the work, from the sources at the top to the build.
_WIDTH, _HEIGHT = 1.8, 0.5  # of a box, inches
_ACROSS, _DOWN = 2.0, 0.72  # from a box to the next


@dataclass(frozen=True)
class LineageStep:
    """A stage, model or report of a build."""

    name: str
    shards: int  # number of shards; 0 for a directory
    rows: int | None  # rows of all shards; None for a directory
    digest: str  # digest of all its content: of the digests of its shards, or of the directory's files
    reads: tuple[str, ...]  # what it was made from
    depth: int  # longest path from a stage that reads nothing; a build is made in this order
    code: tuple[str, ...]  # commits of the code that made it


def trace(stages: Mapping[str, Sequence[ShardRecord]], directories: Mapping[str, DirectoryRecord]) -> list[LineageStep]:
    """Return the stages and directories of a build in the order in which they can be made."""
    whole: dict[str, set[str]] = {}  # digest -> what has it
    for name, records in stages.items():
        for record in records:
            if record.written.rows:  # empty shards of different stages are equal
                whole.setdefault(record.written.digest, set()).add(name)
    for name, directory in directories.items():
        whole.setdefault(directory.digest, set()).add(name)
    reads = {name: _reads(name, records, stages, whole) for name, records in stages.items() if records}
    reads |= {name: _sources(name, directory.inputs, whole, stages) for name, directory in directories.items()}
    depths = _depths(reads)
    origins = []
    for name, sources in reads.items():
        records = stages.get(name, ())
        digests = "".join(record.written.digest for record in records)
        digest = hashlib.sha256(digests.encode()).hexdigest() if records else directories[name].digest
        rows = sum(record.written.rows for record in records) if records else None
        above = tuple(sorted(sources, key=lambda other: (depths[other], other)))
        made: Sequence[ShardRecord | DirectoryRecord] = records or [directories[name]]
        commits = {record.code.get("commit", "") for record in made}
        code = sorted(commit[:7] + "-dirty" * commit.endswith("-dirty") for commit in commits if commit)
        origins.append(LineageStep(name, len(records), rows, digest[:_DIGITS], above, depths[name], tuple(code)))
    return sorted(origins, key=lambda origin: (origin.depth, origin.name))


def _reads(
    name: str, own: Sequence[ShardRecord], stages: Mapping[str, Sequence[ShardRecord]], whole: Mapping[str, set[str]]
) -> set[str]:
    """Return what a stage was made from: whole shards and directories, or its row groups of a shuffle."""
    # Of its widest shard, since a shard may have got nothing from some of its inputs.
    reader = max(own, key=lambda record: (record.written.rows, -record.shard))
    groups: dict[str, set[str]] = {digest: set(names) for digest, names in whole.items()}
    for other, records in stages.items():
        for record in records:
            group = record.written.groups.get(reader.shard)
            if group is not None and group.rows:
                groups.setdefault(group.digest, set()).add(other)
    return _sources(name, reader.inputs, groups, stages)


def _sources(
    name: str, inputs: Mapping[str, Sequence[str]], known: Mapping[str, set[str]], stages: Collection[str]
) -> set[str]:
    sources = set[str]()
    for argument, digests in inputs.items():
        # If all inputs are empty, only the argument's name says which stage they are of.
        sources |= {other for digest in digests for other in known.get(digest, ())} or {argument} & set(stages)
    return sources - {name}


def _depths(reads: Mapping[str, set[str]]) -> dict[str, int]:
    depths: dict[str, int] = {}

    def depth(name: str, within: tuple[str, ...]) -> int:
        if name not in depths:
            # Stages with equal content seem to read each other; the path through one of them is enough.
            above = [depth(other, (*within, name)) for other in reads[name] if other not in (*within, name)]
            depths[name] = 1 + max(above, default=-1)
        return depths[name]

    for name in sorted(reads):
        depth(name, ())
    return depths


IndexEntry = tuple[str, str, str]  # what a line of the index is about, the key of its artifact, and what that shows


def publish_overview(
    build: Build, corpus: str, stages: Mapping[str, Sequence[ShardRecord]], directories: Mapping[str, DirectoryRecord]
) -> None:
    """Publish lineage and index of a finished build; its other artifacts are published already."""
    origins = trace(stages, directories)
    entries = list(index_entries(corpus, origins, stages, directories))
    about = f"{corpus}: what build {build.name} was made from, stage by stage."
    publish_page(corpus, LINEAGE, artifact([lineage_section(build.name, origins)]), about)
    about = f"{corpus}: the artifacts of build {build.name} in pipeline order."
    publish_page(corpus, INDEX, index_page(build, corpus, entries), about)


def index_entries(
    corpus: str,
    origins: Sequence[LineageStep],
    stages: Mapping[str, Sequence[ShardRecord]],
    directories: Mapping[str, DirectoryRecord],
) -> Iterator[IndexEntry]:
    """Yield what the index links, in the order in which a build is made."""
    for origin in origins:
        if origin.name in stages:
            summary = summarise(stages[origin.name])
            refused = sum(summary["drops"].values())
            size = f"{summary['rows']:,} rows in {origin.shards:,} shard{'s' * (origin.shards != 1)}"
            yield origin.name, stage_key(corpus, origin.name), f"{size}, {refused:,} refused"
            if summary["worst"]:
                yield f"{origin.name}: failures", failures_key(corpus, origin.name), "where most rows were refused"
            continue
        record = directories[origin.name]
        if METRICS in record.files:
            yield origin.name, training_key(corpus, record.name), "training curves"
        for file in record.files:
            if file.startswith(ARTIFACTS):
                key = artifact_key(corpus, part_name(file))
                part = key.removeprefix(artifact_key(corpus, "report-")).strip("-")
                yield f"{origin.name}: {part}", key, "a part of the report"
    yield "lineage", artifact_key(corpus, LINEAGE), "what each stage was made from, by digests"
    yield "spending", artifact_key(corpus, SPENDING), "money and hours of the last run, and of its month"


def index_page(build: Build, corpus: str, entries: Sequence[IndexEntry]) -> str:
    """Return the index as Markdown; links are relative, for both UIs and wherever they are served."""
    head = [
        f"## {escape(f'{corpus}: build {build.name}')}",
        "",
        "An artifact keeps its history: the newest entry of a page is that of the last run that published it.",
        "",
        "| part | artifact | shows |",
        "| --- | --- | --- |",
    ]
    rows = [f"| {escape(name)} | [{key}](../key/{key}) | {escape(shows)} |" for name, key, shows in entries]
    return "\n".join([*head, *rows, ""])


def lineage_section(build: str, origins: Sequence[LineageStep]) -> ReportSection:
    """Return the page: the picture, and what each stage was made from."""
    rows: list[Row] = [
        [
            origin.name,
            f"{origin.shards:,}" if origin.shards else "",
            "" if origin.rows is None else origin.rows,
            origin.digest,
            ", ".join(origin.reads),
            ", ".join(origin.code),
        ]
        for origin in origins
    ]
    columns = ["stage", "shards", "rows", "digest", "made from", "code"]
    caption = "Stages, their shards and digests, and the build that names them"
    blocks: list[Block] = [
        Text(WORDS["legends"]["lineage"]),
        Picture(caption, lineage_picture(build, origins), wide=True),
        table_of("What was made from what", columns, rows, range(1, 3)),
    ]
    return ReportSection("lineage", f"Lineage of build {build}", blocks)


def lineage_picture(build: str, origins: Sequence[LineageStep]) -> bytes:
    """Draw stages with shards, rows and digests, and the build at the end; implied paths are left out."""
    last = max((origin.depth for origin in origins), default=0) + 1
    read = {name for origin in origins for name in origin.reads}
    ends = sorted({origin.name for origin in origins} - read)
    reads = direct_reads(origins) | {build: ends}
    labels = {origin.name: _label(origin) for origin in origins} | {build: f"build\n{build}"}
    levels: dict[int, list[str]] = defaultdict(list)
    for origin in origins:
        levels[origin.depth].append(origin.name)
    levels[last].append(build)
    most = max(map(len, levels.values()))
    places: dict[str, tuple[float, float]] = {}
    for depth in sorted(levels):
        # A stage is placed below its inputs, so that lines cross less.
        def across(name: str) -> tuple[float, str]:
            above = [places[other][0] for other in reads[name] if other in places]
            return (sum(above) / len(above) if above else 0.0, name)

        names = sorted(levels[depth], key=across)
        for number, name in enumerate(names):
            places[name] = (number - (len(names) - 1) / 2) * _ACROSS, -depth * _DOWN

    def panel(axes: Axes) -> None:
        for name, (x, y) in places.items():
            for other in reads[name]:
                from_x, from_y, to_y = places[other][0], places[other][1] - _HEIGHT / 2, y + _HEIGHT / 2
                bend = (from_y - to_y) / 2
                curve = Path(
                    [(from_x, from_y), (from_x, from_y - bend), (x, to_y + bend), (x, to_y)],
                    [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
                )
                axes.add_patch(PathPatch(curve, facecolor="none", edgecolor=COLORS[2], linewidth=0.9, alpha=0.6))
        for name, (x, y) in places.items():
            edge = COLORS[1] if name == build else COLORS[0]
            corner, style = (x - _WIDTH / 2, y - _HEIGHT / 2), "round,pad=0,rounding_size=.06"
            box = FancyBboxPatch(corner, _WIDTH, _HEIGHT, style, facecolor="white", edgecolor=edge, linewidth=1.2)
            axes.add_patch(box).set_zorder(2)
            axes.text(x, y, labels[name], fontsize=7, ha="center", va="center", color=INK, zorder=3)
        axes.set(
            xlim=(-most * _ACROSS / 2, most * _ACROSS / 2), ylim=(-last * _DOWN - _HEIGHT, _HEIGHT), aspect="equal"
        )
        axes.axis("off")

    return draw(panel, width=most * _ACROSS + 0.2, height=last * _DOWN + 2 * _HEIGHT + 0.2)


def direct_reads(origins: Sequence[LineageStep]) -> dict[str, list[str]]:
    """Return what each origin, in the order of `trace`, reads itself and not through another that it reads."""
    direct: dict[str, list[str]] = {}
    sources: dict[str, set[str]] = {}  # what each was made from, directly or through others
    for origin in origins:
        earlier = sources.keys() & origin.reads  # of stages with equal content, each seems to read the other
        implied = set[str]().union(*(sources[other] for other in earlier))
        sources[origin.name] = implied | earlier
        direct[origin.name] = sorted(earlier - implied)  # sorted, because lines are drawn over one another
    return direct


def _label(origin: LineageStep) -> str:
    size = "" if origin.rows is None else f"{origin.shards:,} shard{'s' * (origin.shards != 1)}, {origin.rows:,} rows\n"
    return f"{origin.name}\n{size}{origin.digest}"
