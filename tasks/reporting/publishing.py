"""Publish a build's results in the Prefect UI."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from storage.builds import summarise
from storage.directories import DirectoryRecord
from storage.schemas import DATASETS
from storage.store import Store
from tasks.engine.failure_logs import unless_prefect_is_away
from tasks.engine.inputs import DirectoryResult, StageResult
from tasks.engine.stage import StagePlan

_SHOWN_SHARDS = 200  # rows of a table artifact; a thousand shards would exceed its size limit
_SUMMARY, _PAGE, _ARTIFACTS = "summary.txt", "report.html", "artifacts/"
_METRICS = "metrics.jsonl"  # of a trained model


def publish_stage(result: StageResult, planned: StagePlan) -> str:
    """Publish a stage's counts as a table artifact, whose history the UI shows; return them in one line."""
    summary = summarise(result.records.values())
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
                    "rows": counts["rows"],
                    "refused": sum(counts["drops"].values()),
                    "reasons": ", ".join(
                        f"{reason} {count:,}"
                        for reason, count in sorted(counts["drops"].items(), key=lambda drop: (-drop[1], drop[0]))
                    ),
                }
                for value, counts in summary["worst"].items()
            ],
            description=f"{planned.stage}: where the most rows were refused.",
        )
    return line


def publish_training(store: Store, record: DirectoryRecord) -> None:
    """Publish the curves of a newly trained model as a Markdown artifact; other directories have none."""
    if _METRICS not in record.files:
        return
    from tasks.reporting.report import training_artifact  # here, so that worker processes do not load matplotlib

    name = record.name.removeprefix("models/")
    with TemporaryDirectory(prefix="wikisum-") as folder:
        (Path(folder) / _METRICS).write_bytes(store.read_bytes(f"{record.path}/{_METRICS}"))
        markdown = training_artifact(name, Path(folder))
    if markdown is not None:
        key = re.sub(r"[^a-z0-9]+", "-", f"training-{name}".lower()).strip("-")
        create_markdown_artifact(key=key, markdown=markdown, description=f"Training curves of {name}.")


def publish_report(store: Store, report: DirectoryResult, page: str = _PAGE) -> str:
    """Publish the report's parts as Markdown artifacts; return its summary and the path of its page as text."""
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
