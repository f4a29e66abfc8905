"""The end of a retraining run: verdict, version, card, pointer and pruning, in an order that survives a kill. Build,
frozen split, pages and artifacts come first, then the version, then the pointer. So everything that an existing version
names exists too, and after a kill between the last two only the pointer has to be moved."""

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import pyarrow as pa

from storage.builds import summarise
from storage.registry import FrozenSplit, Version, read_frozen, save_frozen, save_version, version_numbers
from storage.store import Store
from tasks.engine.recipe import Shards, StageResult, every
from tasks.engine.stage import Run
from tasks.evaluation.significance import SIGNIFICANCE
from tasks.reporting.challenge import Challenge, Contender, compare_contenders
from tasks.retraining.card import Effort, model_card
from tasks.retraining.champion_change import describe, settle
from tasks.retraining.evidence import find_all_evidence, scored_otherwise
from tasks.retraining.published_version import keep_pages, publish_version
from tasks.retraining.settings import FLIPS, RetrainingSettings
from tasks.retraining.splits import FROZEN, EvaluatedVersion, HeldOutSplits
from tasks.retraining.verdict import Verdict, criteria_of, decide, first_verdict, judging
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
    None where it started from scratch. The run `started` at that `time.monotonic`."""
    store = run.store
    scores = {split: _table(store, part) for split, part in splits.apart(challenger.scores).items()}
    number = max(version_numbers(store), default=0) + 1
    verdict = first_verdict()
    challenges: dict[str, Challenge] = {}
    if champion is not None:
        sides = Contested(champion[0].version.number, champion[1], number, challenger)
        verdict, challenges = _contest(store, sides, scores, splits, settings, seed)
    build = run.record_build(config)
    if read_frozen(store) is None:
        save_frozen(store, FrozenSplit(build.name, seed, *map(_paths, vars(splits.frozen).values())))
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
        scores=_means(scores[FROZEN]),
        verdict=asdict(verdict),
        computed=_computed(run),
        recent={
            week: {name: _paths(part)[0] for name, part in vars(split).items()} for week, split in splits.recent.items()
        },
    )
    counts = {name: summarise(result.records.values()) for name, result in run.stages.items()}
    effort = Effort(
        time.monotonic() - started,
        sum(count["seconds"] for count in counts.values())
        + sum(model.record.seconds for model in run.directories.values() if model.record is not None),
        max(count["peak_bytes"] for count in counts.values()),
    )
    keep_pages(store, version, model_card(version, counts, effort), challenges, describe(version).partition("\n")[0])
    publish_version(store, version, str(config.get("name", "")))
    save_version(store, version)
    return settle(store, version, settings)


@dataclass(frozen=True)
class Contested:
    """Champion and challenger: their numbers and results."""

    champion_number: int
    champion: EvaluatedVersion
    challenger_number: int
    challenger: EvaluatedVersion


def _contest(
    store: Store,
    sides: Contested,
    scores: Mapping[str, pa.Table],
    splits: HeldOutSplits,
    settings: RetrainingSettings,
    seed: int,
) -> tuple[Verdict, dict[str, Challenge]]:
    """Return the verdict, and both side by side on each test split where the metric that must improve was scored.
    `scores` are the challenger's, by test split."""
    criteria = criteria_of(settings)
    before = {split: _table(store, part) for split, part in splits.apart(sides.champion.scores).items()}
    metrics = [criterion.metric for criterion in criteria]
    evidence = find_all_evidence(before, scores, metrics, SIGNIFICANCE, flips=FLIPS, seed=seed)
    flaws = scored_otherwise(sides.champion.scores, sides.challenger.scores)
    evidence = replace(evidence, flaws=[*flaws, *evidence.flaws])
    scored = {finding.split for finding in evidence.findings if finding.metric == settings.metric}
    challenges = {}
    for split, part in splits.apart(splits.articles).items():
        if split in scored:
            texts = [
                _table(store, splits.apart(side.predictions)[split]) for side in (sides.champion, sides.challenger)
            ]
            challenges[split] = compare_contenders(
                Contender(f"version {sides.champion_number}", before[split], texts[0]),
                Contender(f"version {sides.challenger_number}", scores[split], texts[1]),
                _table(store, part),
                judging(settings),
                seed,
            )
    return decide(evidence, criteria, settings), challenges


def _computed(run: Run) -> dict[str, list[int]]:
    """Return stage -> [shards computed in this run, all shards]."""
    computed: dict[str, list[int]] = {}
    for plan in run.plans:
        computed.setdefault(plan.stage, [plan.missing, plan.shards])
    return computed


def _means(scores: pa.Table) -> dict[str, float]:
    """Return metric -> mean, of the metrics whose mean is a finite number."""
    means = scores.group_by("metric", use_threads=False).aggregate([("value", "mean")])
    pairs = zip(means["metric"].to_pylist(), means["value_mean"].to_pylist(), strict=True)
    return {metric: mean for metric, mean in pairs if mean is not None and math.isfinite(mean)}


def _paths(stage: StageResult) -> list[str]:
    return [record.path for record in stage.in_order]


def _table(store: Store, stage: StageResult) -> pa.Table:
    shards: Shards = every(stage).loading(0)(store)
    return pa.concat_tables(table for (table,) in shards)
