"""The end of a retraining run: verdict, version, card, pointer and pruning, in an order that survives a kill. Build,
frozen split, pages and artifacts come first, then the version, then the pointer. So everything that an existing version
names exists too, and after a kill between the last two only the pointer has to be moved."""

import math
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from storage.builds import summarise
from storage.recipes import read_parts, whole
from storage.registry import FrozenSplit, Version, read_frozen, save_frozen, save_version, version_numbers
from storage.store import Store
from tasks.engine.recipe import StageResult
from tasks.engine.stage import Run
from tasks.reporting.blocks import ReportSection
from tasks.reporting.challenge import Contender, challenge_section
from tasks.retraining.card import keep_pages, model_card, publish_version
from tasks.retraining.champion_change import describe, settle
from tasks.retraining.settings import FLIPS, RetrainingSettings
from tasks.retraining.splits import FROZEN, EvaluatedVersion, HeldOutSplits
from tasks.retraining.verdict import Verdict, criteria_of, decide, find_all_evidence, scored_otherwise
from tasks.retraining.warm_start import VersionModels


def finish_retraining(
    run: Run,
    config: Mapping[str, Any],
    settings: RetrainingSettings,
    splits: HeldOutSplits,
    challenger: EvaluatedVersion,
    champion: tuple[VersionModels, EvaluatedVersion] | None,
    *,
    start: VersionModels | None,
    seed: int,
    started: float,
) -> str:
    """Judge the challenger, keep it as a version, promote it if it is better, and prune; return what happened.
    `champion` are the models in use, None before the first; `start` those from which training continued where they fit,
    None if it started from scratch. The run `started` at that `time.monotonic`."""
    store = run.store
    number = max(version_numbers(store), default=0) + 1
    verdict = Verdict(True, "the first version")
    challenges: dict[str, ReportSection] = {}
    if champion is not None:
        sides = {f"version {champion[0].version.number}": champion[1], f"version {number}": challenger}
        verdict, challenges = _contest(store, sides, splits, settings, seed)
    build = run.record_build(config)
    if read_frozen(store) is None:
        save_frozen(store, FrozenSplit(build.name, seed, *map(_paths, vars(splits.frozen).values())))
    computed: dict[str, list[int]] = {}  # stage -> shards computed in this run, and all shards
    for plan in run.plans:
        computed.setdefault(plan.stage, [plan.missing, plan.shards])
    version = Version(
        number=number,
        created=build.created,
        label=settings.period,
        build=build.name,
        parent=None if champion is None else champion[0].version.number,
        start=None if start is None else start.version.number,
        models={name: model.record.path for name, model in challenger.models.items() if model.record is not None},
        vocabulary=challenger.vocabulary.in_order[0].path,
        settings=dict(config),
        scores=_means(_table(store, splits.apart(challenger.scores)[FROZEN])),
        verdict=asdict(verdict),
        computed=computed,
        recent={
            week: {name: _paths(part)[0] for name, part in vars(split).items()} for week, split in splits.recent.items()
        },
    )
    counts = {name: summarise(result.records.values()) for name, result in run.stages.items()}
    work = sum(count["seconds"] for count in counts.values())
    work += sum(model.record.seconds for model in run.directories.values() if model.record is not None)
    card = model_card(version, counts, seconds=time.monotonic() - started, work_seconds=work)
    keep_pages(store, version, card, challenges, describe(version).partition("\n")[0])
    publish_version(store, version, str(config.get("name", "")))
    save_version(store, version)
    return settle(store, version, settings)


def _contest(
    store: Store, sides: Mapping[str, EvaluatedVersion], splits: HeldOutSplits, settings: RetrainingSettings, seed: int
) -> tuple[Verdict, dict[str, ReportSection]]:
    """Return the verdict, and both side by side on each test split where the metric that must improve was scored.
    `sides` are champion and challenger by their names."""
    before, after = (
        {split: _table(store, part) for split, part in splits.apart(side.scores).items()} for side in sides.values()
    )
    metrics = [criterion.metric for criterion in criteria_of(settings)]
    findings, flaws = find_all_evidence(before, after, metrics, FLIPS, seed)
    flaws = [*scored_otherwise(*(side.scores for side in sides.values())), *flaws]
    scored = {finding.split for finding in findings if finding.metric == settings.metric}
    challenges = {}
    for split, part in splits.apart(splits.articles).items():
        if split in scored:
            champion, challenger = (
                Contender(name, scores[split], _table(store, splits.apart(side.predictions)[split]))
                for (name, side), scores in zip(sides.items(), (before, after), strict=True)
            )
            challenges[split] = challenge_section(champion, challenger, _table(store, part), settings.metric, seed)
    return decide(findings, flaws, settings), challenges


def _means(scores: pa.Table) -> dict[str, float]:
    """Return metric -> mean, of the metrics whose mean is a finite number."""
    means = scores.group_by("metric", use_threads=False).aggregate([("value", "mean")])
    pairs = zip(means["metric"].to_pylist(), means["value_mean"].to_pylist(), strict=True)
    return {metric: mean for metric, mean in pairs if mean is not None and math.isfinite(mean)}


def _paths(stage: StageResult) -> list[str]:
    return [record.path for record in stage.in_order]


def _table(store: Store, stage: StageResult) -> pa.Table:
    return read_parts(store, stage.stage, map(whole, stage.in_order))
