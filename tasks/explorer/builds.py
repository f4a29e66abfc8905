"""The builds of a root over time: settings that changed, sizes, scores, and a chart of the scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from storage.builds import Build, build_names, latest_build, read_build
from storage.directories import read_directory_record
from storage.errors import DamagedFieldsError, StorageError
from storage.store import Store
from tasks.evaluation.metrics import metric_name
from tasks.reporting.blocks import NONE
from tasks.reporting.facts import flatten

_MOST_BUILDS = 50  # that are listed, the newest
_MOST_LINES = 6


@dataclass(frozen=True)
class BuildRow:
    """A build in the list."""

    name: str
    created: str  # UTC time, ISO 8601
    changed: Sequence[tuple[str, str, str]]  # settings that differ from the build before: name, value there, value here
    articles: int | None  # that it kept; None = it has none
    metric: str = ""  # by which its report compares systems; "" = unknown
    # system that does not read the target -> mean under it, percent; the highest first
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class BuildList:
    """The newest builds, and which are not listed."""

    rows: Sequence[BuildRow]  # the newest first
    latest: str  # name of the one in use
    older: int  # how many are not listed because they are older
    damaged: Sequence[str]  # names of those whose manifest cannot be read


@dataclass(frozen=True)
class ChartLine:
    """A system's scores over builds."""

    system: str
    points: Sequence[tuple[int, float]]  # place of the build among those of the chart, and its score


@dataclass(frozen=True)
class Chart:
    """Scores of systems over the builds of one metric."""

    metric: str
    builds: Sequence[str]  # names, the oldest first
    lines: Sequence[ChartLine]  # the highest of the newest build first
    low: float  # ends of the axis
    high: float


def list_builds(store: Store) -> BuildList:
    """Return the builds below a root. Raises StorageError: the root cannot be listed."""
    names = build_names(store)
    shown, damaged, before = [], [], None
    for name in names[-_MOST_BUILDS - 1 :]:  # one more, which the oldest one shown is compared with
        try:
            build = read_build(store, name)
        except DamagedFieldsError:
            damaged.append(name)
            continue
        shown.append(_row(store, build, before))
        before = build
    latest = latest_build(store)
    rows = shown[::-1][:_MOST_BUILDS]
    return BuildList(rows, "" if latest is None else latest.name, max(0, len(names) - _MOST_BUILDS), damaged)


def chart_of(rows: Sequence[BuildRow]) -> Chart | None:
    """Return the chart of listed builds that were compared by the newest one's metric; None for fewer than two."""
    metric = next((row.metric for row in rows if row.metric), "")
    scored = [row for row in reversed(rows) if row.metric == metric and row.scores]
    if len(scored) < 2:
        return None
    names = dict.fromkeys(name for row in reversed(scored) for name in row.scores)
    lines = [
        ChartLine(name, [(place, row.scores[name]) for place, row in enumerate(scored) if name in row.scores])
        for name in list(names)[:_MOST_LINES]
    ]
    values = [value for line in lines for _, value in line.points]
    return Chart(metric, [row.name for row in scored], lines, min(values), max(values))


def _row(store: Store, build: Build, before: Build | None) -> BuildRow:
    here, there = dict(flatten(build.config)), dict(flatten({} if before is None else before.config))
    names = sorted(name for name in {*here, *there} if here.get(name) != there.get(name)) if before else []
    changed = [(name, there.get(name, NONE), here.get(name, NONE)) for name in names]
    counts = build.counts.get("articles")
    articles = None if counts is None else counts["rows"] - sum(counts["drops"].values())
    metric, scores = _scores(store, build)
    return BuildRow(build.name, build.created, changed, articles, metric, scores)


def _scores(store: Store, build: Build) -> tuple[str, Mapping[str, float]]:
    """Return the name of the metric that a build's report compares systems by, and their means."""
    from tasks.reporting.scores import SHOWN_THE_TARGET  # here, because it loads matplotlib

    if build.report is None:
        return "", {}
    try:
        figures = read_directory_record(store, f"{build.report}.json").metrics
    except (FileNotFoundError, StorageError, ValueError):
        return "", {}
    means = sorted(figures.get("headline_scores", {}).items(), key=lambda item: (-item[1], item[0]))
    scores = {system: mean for system, mean in means if system not in SHOWN_THE_TARGET}
    return (metric_name(str(figures["headline"])), scores) if scores else ("", {})
