"""What people see of a build in the Prefect UI, and the manifest that names it."""

import hashlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from storage.builds import Build, save_build
from storage.directories import DirectoryRecord
from storage.recipes import worst_of
from storage.schemas import DATASETS
from storage.store import Store
from tasks.engine.failure_logs import unless_prefect_is_away
from tasks.engine.inputs import DirectoryResult, StageResult
from tasks.engine.stage import Run, StagePlan

_SHOWN_SHARDS = 200  # rows of a table artifact; a thousand shards would pass its size limit
_SUMMARY, _PAGE, _ARTIFACTS = "summary.txt", "report.html", "artifacts/"
_METRICS = "metrics.jsonl"  # of a trained model


def publish_stage(result: StageResult, planned: StagePlan) -> str:
    """Keep a stage's counts as a table artifact, whose history the UI shows; return them in one line."""
    summary = summarise(result)
    drops = ", ".join(f"{reason} {count:,}" for reason, count in summary["drops"].items())
    rows = [
        {
            "shard": shard,
            "rows": record.written.rows,
            "kept": record.written.rows - sum(record.drops.values()),
            "refused": ", ".join(f"{reason} {count}" for reason, count in record.drops.items()),
            "bytes": record.written.bytes,
            "seconds": record.seconds,
            "peak MB": round(record.peak_bytes / 1e6),
            "key": record.key,
        }
        for shard, record in list(result.records.items())[:_SHOWN_SHARDS]
    ]
    line = (
        f"{planned.stage}: {summary['rows']:,} rows in {planned.shards} shards, {summary['bytes'] / 1e6:.1f} MB"
        f"{f'; refused: {drops}' if drops else ''}"
    )
    create_table_artifact(
        key=f"stage-{planned.stage.replace('_', '-')}",
        table=rows,
        description=f"{line}. Computed {planned.shards - planned.done} of {planned.shards} shards in this run.",
    )
    if summary["worst"]:
        create_table_artifact(
            key=f"stage-{planned.stage.replace('_', '-')}-failures",
            table=[
                {
                    str(DATASETS[result.stage].blamed): value,
                    "rows": told["rows"],
                    "refused": sum(told["drops"].values()),
                    "reasons": ", ".join(
                        f"{reason} {count:,}"
                        for reason, count in sorted(told["drops"].items(), key=lambda drop: (-drop[1], drop[0]))
                    ),
                }
                for value, told in summary["worst"].items()
            ],
            description=f"{planned.stage}: where the most rows were refused.",
        )
    return line


def publish_training(store: Store, record: DirectoryRecord) -> None:
    """Keep the curves of a model that has just been trained as a Markdown artifact; other directories have none."""
    if _METRICS not in record.files:
        return
    from tasks.reporting.report import training_artifact  # else every worker process would load what draws

    name = record.name.removeprefix("models/")
    with TemporaryDirectory(prefix="wikisum-") as folder:
        (Path(folder) / _METRICS).write_bytes(store.read_bytes(f"{record.path}/{_METRICS}"))
        markdown = training_artifact(name, Path(folder))
    if markdown is not None:
        key = re.sub(r"[^a-z0-9]+", "-", f"training-{name}".lower()).strip("-")
        create_markdown_artifact(key=key, markdown=markdown, description=f"Training curves of {name}.")


def publish_report(store: Store, report: DirectoryResult, page: str = _PAGE) -> str:
    """Keep the report's parts as Markdown artifacts; return its summary and the path of its page as text."""
    record = report.record
    assert record is not None
    summary = store.read_bytes(f"{record.path}/{_SUMMARY}").decode()
    verdict = " ".join(summary.strip().rpartition("\n\n")[2].split())
    for file in record.files:
        if file.startswith(_ARTIFACTS):
            key = file.removeprefix(_ARTIFACTS).removesuffix(".md")
            markdown = store.read_bytes(f"{record.path}/{file}").decode()
            with unless_prefect_is_away(f"the artifact {key}"):
                create_markdown_artifact(key=key, markdown=markdown, description=verdict)
    return f"{summary}\nreport: {store.path(f'{record.path}/{page}')}"


def record_build(
    run: Run, config: dict[str, Any], report: DirectoryRecord | None = None, *, latest: bool = True
) -> Build:
    """Write and return the manifest of what a walk has made, with its report if it has one.

    Args:
        run: the walk, all of it done.
        config: the whole configuration.
        report: what it wrote of it.
        latest: whether it is what people mean by the latest build; else it is only kept from being pruned.
    """
    now = datetime.now(UTC)
    stages = {
        name: {str(shard): record.path for shard, record in result.records.items()}
        for name, result in run.stages.items()
    }
    models = {name: made.record.path for name, made in run.directories.items() if made.record is not None}
    content = hashlib.sha256(json.dumps([stages, models], sort_keys=True).encode()).hexdigest()
    build = Build(
        name=f"{now:%Y%m%d-%H%M%S}-{content[:6] if report is None else report.key[:6]}",
        created=now.isoformat(timespec="seconds"),
        config=config,
        stages=stages,
        models=models,
        counts={name: summarise(result) for name, result in run.stages.items()},
        report=None if report is None else report.path,
    )
    save_build(run.store, build, latest=latest)
    return build


def summarise(result: StageResult) -> dict[str, Any]:
    """Add a stage's records up: rows, drops by reason and by whom they are blamed on, bytes, seconds, peak memory."""
    drops: dict[str, int] = {}
    for record in result.records.values():
        for reason, count in record.drops.items():
            drops[reason] = drops.get(reason, 0) + count
    records = result.records.values()
    return {
        "rows": sum(record.written.rows for record in records),
        "drops": dict(sorted(drops.items(), key=lambda item: -item[1])),
        "bytes": sum(record.written.bytes for record in records),
        "seconds": round(sum(record.seconds for record in records), 3),
        "peak_bytes": max((record.peak_bytes for record in records), default=0),
        "notes": {name: note for record in records for name, note in record.notes.items()},
        "worst": worst_of({value: told for record in records for value, told in record.worst.items()}),
    }
