"""The artifacts of a version in Prefect: its card, which describes it for people, the comparison with the champion, and
how many shards were computed. The pages are kept next to the registry, so that they can be published again: a server
forgets old runs, and pruning deletes the tables that a comparison was made from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from storage.registry import FOLDER, Version, read_version, version_numbers
from storage.store import Store
from tasks.evaluation.metrics import METRICS, metric_name
from tasks.reporting.blocks import Block, Cell, ReportSection, Row, Text, section, table_of
from tasks.reporting.facts import Fact, built, settings_section
from tasks.reporting.markdown import artifact
from tasks.reporting.publishing import publish_page, publish_table
from tasks.reporting.stages import costs_section, funnel, funnel_section, tallies
from tasks.retraining.splits import FROZEN, RECENT

_CHALLENGES = {FROZEN: "champion-challenger", RECENT: f"champion-challenger-{RECENT}"}  # split -> artifact


def model_card(
    version: Version, counts: Mapping[str, Mapping[str, Any]], *, seconds: float, work_seconds: float
) -> str:
    """Return the card of a version as Markdown. `counts` are those of every stage of its build
    (`storage.builds.summarise`). Its run took so many `seconds` by the clock, and the work of every shard and model of
    the build, in whatever run they were made, `work_seconds`."""
    verdict = version.verdict
    peak = max((count["peak_bytes"] for count in counts.values()), default=0)  # of a process that made a shard
    facts: list[Fact] = [
        ("version", f"{version.number}, for {version.label}, made {version.created}"),
        ("verdict", f"{'promoted' if verdict['promoted'] else 'refused'}: {verdict['reason']}"),
        ("judged against", "no other version" if version.parent is None else f"version {version.parent}"),
        ("trained on from", "nothing" if version.start is None else f"version {version.start}"),
        ("build", version.build),
        *sorted(version.models.items()),
        ("vocabulary", version.vocabulary),
        ("time of this run", f"{seconds / 3600:.2f} hours by the clock"),
        ("work in the build", f"{work_seconds / 3600:.2f} hours, all shards and models together"),
        ("peak memory", f"{peak / 1e6:,.0f} MB in one process"),
    ]
    sections = [
        built(facts),
        _scores(version),
        _findings(verdict),
        rebuilt_section(version.computed),
        funnel_section(funnel(counts), tallies(counts)),
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


def keep_pages(
    store: Store, version: Version, card: str, challenges: Mapping[str, ReportSection], decision: str
) -> None:
    """Write a version's card and its comparisons with the champion, by split, next to the registry. The version need
    not be saved yet, and a first one has no challenges; `decision`: the decision and its reason."""
    store.write_bytes(_card(version), card.encode())
    for split, challenge in challenges.items():
        page = artifact([replace(challenge, blocks=[Text(decision), *challenge.blocks])])
        store.write_bytes(_page(version, split), page.encode())


def publish_version(store: Store, version: Version, corpus: str) -> None:
    """Publish what was kept of a version, and the shards computed for it, as artifacts with a history."""
    of = f"version {version.number} of {version.label}"
    kept = {
        "model-card": (_card(version), f"Model card of {of}."),
        **{name: (_page(version, split), f"Champion and challenger: {of}.") for split, name in _CHALLENGES.items()},
    }
    rows = [{"stage": stage, "computed": done, "of": total} for stage, (done, total) in version.computed.items()]
    for name, (path, description) in kept.items():
        if store.exists(path):
            publish_page(corpus, name, store.read_bytes(path).decode(), description)
    publish_table(corpus, "retrained-shards", rows, f"Shards computed for {of}.")


def publish_versions(store: Store, corpus: str) -> int:
    """Publish what was kept of all versions again, oldest first; return how many versions there are."""
    numbers = version_numbers(store)
    for number in numbers:
        publish_version(store, read_version(store, number), corpus)
    return len(numbers)


def _card(version: Version) -> str:
    return f"{FOLDER}/cards/{version.number:06d}.md"


def _page(version: Version, split: str) -> str:
    return f"{FOLDER}/challenges/{version.number:06d}-{split}.md"
