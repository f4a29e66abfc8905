"""The model card: a description of a version for people."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storage.registry import Version
from tasks.evaluation.metrics import METRICS, metric_name
from tasks.reporting.blocks import Block, Cell, ReportSection, Row, section, table_of
from tasks.reporting.facts import Fact, built, settings_section
from tasks.reporting.markdown import artifact
from tasks.reporting.stages import costs_section, funnel, funnel_section


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
    facts: list[Fact] = [
        ("version", f"{version.number}, for {version.label}, made {version.created}"),
        ("verdict", f"{'promoted' if verdict['promoted'] else 'refused'}: {verdict['reason']}"),
        ("judged against", "no other version" if version.parent is None else f"version {version.parent}"),
        ("trained on from", "nothing" if version.start is None else f"version {version.start}"),
        ("build", version.build),
        *sorted(version.models.items()),
        ("vocabulary", version.vocabulary),
        ("time of this run", f"{effort.seconds / 3600:.2f} hours by the clock"),
        ("work in the build", f"{effort.work_seconds / 3600:.2f} hours, all shards and models together"),
        ("peak memory", f"{effort.peak_bytes / 1e6:,.0f} MB in one process"),
    ]
    sections = [
        built(facts),
        _scores(version),
        _findings(verdict),
        rebuilt_section(version.computed),
        funnel_section(funnel(counts)),
        costs_section(counts),
        settings_section(version.settings),
    ]
    return artifact([ReportSection("card", f"Model card: version {version.number}", []), *sections])


@section("rebuilt", "What changed")
def rebuilt_section(computed: Mapping[str, Sequence[int]]) -> Iterator[Block]:
    """How many shards of each stage this run computed."""
    rows: list[Row] = []
    for stage, (done, total) in computed.items():
        rows.append([stage, Cell(str(done), strong=done > 0), str(total)])
    yield table_of("Shards computed in this run", ["stage", "computed", "of"], rows)


@section("frozen", "Scores")
def _scores(version: Version) -> Iterator[Block]:
    rows = [[metric_name(metric), f"{METRICS[metric].scale * value:.2f}"] for metric, value in version.scores.items()]
    yield table_of("Scores on the frozen test split, %, ratios as numbers", ["metric", "score"], rows)


@section("evidence", "Evidence of the verdict")
def _findings(verdict: Mapping[str, Any]) -> Iterator[Block]:
    roles = {criterion["metric"]: criterion["role"] for criterion in verdict.get("criteria", ())}
    asked = {"improve": "must improve", "hold": "must not get worse"}
    rows: list[Row] = [
        [
            finding["split"],
            metric_name(finding["metric"]),
            asked[roles[finding["metric"]]],
            finding["articles"],
            *(f"{100 * finding[side]:.2f}" for side in ("champion", "challenger")),
            f"{100 * finding['low']:+.2f} to {100 * finding['high']:+.2f}",
            f"{finding['p_better']:.2g}",
            f"{finding['p_worse']:.2g}",
        ]
        for finding in verdict.get("findings", ())
    ]
    level = verdict.get("level")
    caption = "F1, points of 100" if level is None else f"F1, points of 100; significant up to p = {level:.2g}"
    columns = ["test split", "metric", "role", "articles", "champion", "challenger", "interval of the difference"]
    yield table_of(caption, [*columns, "p, better", "p, worse"], rows, range(3, 9))
