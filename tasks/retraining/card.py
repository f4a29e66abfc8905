"""The model card: a description of a version for people."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage.registry import Version
from tasks.evaluation.metrics import METRICS, metric_name
from tasks.reporting.blocks import Cell, ReportSection, Table
from tasks.reporting.facts import Fact, flatten
from tasks.reporting.findings import funnel
from tasks.reporting.markdown import artifact
from tasks.reporting.sections import built, costs_section, funnel_section, settings_section


@dataclass(frozen=True)
class Effort:
    """The cost of a run."""

    seconds: float  # from its start to its verdict, by the clock
    work_seconds: float  # sum over every shard and model of the build, in whatever run they were made
    peak_bytes: int  # highest resident memory of a process that made a shard of the build


def model_card(version: Version, counts: Mapping[str, Mapping[str, Any]], effort: Effort) -> str:
    """Return the card of a version as Markdown. `counts` are those of every stage of its build
    (`storage.builds.summarise`)."""
    verdict = version.verdict
    facts = [
        Fact("version", f"{version.number}, for {version.label}, made {version.created}"),
        Fact("verdict", f"{'promoted' if verdict['promoted'] else 'refused'}: {verdict['reason']}"),
        Fact("judged against", "no other version" if version.parent is None else f"version {version.parent}"),
        Fact("trained on from", "nothing" if version.start is None else f"version {version.start}"),
        Fact("build", version.build),
        *[Fact(name, path) for name, path in sorted(version.models.items())],
        Fact("vocabulary", version.vocabulary),
        Fact("time of this run", f"{effort.seconds / 3600:.2f} hours by the clock"),
        Fact("work in the build", f"{effort.work_seconds / 3600:.2f} hours, all shards and models together"),
        Fact("peak memory", f"{effort.peak_bytes / 1e6:,.0f} MB in one process"),
    ]
    sections = [
        built(facts),
        _scores(version),
        _findings(verdict),
        rebuilt_section(version.computed),
        funnel_section(funnel(counts)),
        costs_section(counts),
        settings_section(list(flatten(version.settings))),
    ]
    return artifact([ReportSection("card", f"Model card: version {version.number}", []), *sections])


def rebuilt_section(computed: Mapping[str, Sequence[int]]) -> ReportSection:
    """How many shards of each stage this run computed."""
    rows = [
        [Cell(stage), Cell(str(done), strong=done > 0), Cell(str(total))] for stage, (done, total) in computed.items()
    ]
    table = Table("Shards computed in this run", ["stage", "computed", "of"], rows, frozenset({1, 2}))
    return ReportSection("rebuilt", "What changed", [table])


def _scores(version: Version) -> ReportSection:
    rows = [
        [Cell(metric_name(metric)), Cell(f"{METRICS[metric].scale * value:.2f}")]
        for metric, value in version.scores.items()
    ]
    table = Table("Scores on the frozen test split, %, ratios as numbers", ["metric", "score"], rows, frozenset({1}))
    return ReportSection("frozen", "Scores", [table])


def _findings(verdict: Mapping[str, Any]) -> ReportSection:
    roles = {criterion["metric"]: criterion["role"] for criterion in verdict.get("criteria", ())}
    asked = {"improve": "must improve", "hold": "must not get worse"}
    rows = [
        [
            Cell(finding["split"]),
            Cell(metric_name(finding["metric"])),
            Cell(asked[roles[finding["metric"]]]),
            Cell(f"{finding['articles']:,}"),
            Cell(_points(finding["champion"])),
            Cell(_points(finding["challenger"])),
            Cell(f"{100 * finding['low']:+.2f} to {100 * finding['high']:+.2f}"),
            Cell(f"{finding['p_better']:.2g}"),
            Cell(f"{finding['p_worse']:.2g}"),
        ]
        for finding in verdict.get("findings", ())
    ]
    level = verdict.get("level")
    caption = "F1, points of 100" if level is None else f"F1, points of 100; significant up to p = {level:.2g}"
    columns = [
        "test split",
        "metric",
        "role",
        "articles",
        "champion",
        "challenger",
        "interval of the difference",
        "p, better",
        "p, worse",
    ]
    return ReportSection("evidence", "Evidence of the verdict", [Table(caption, columns, rows, frozenset(range(3, 9)))])


def _points(share: float) -> str:
    return f"{100 * share:.2f}"
