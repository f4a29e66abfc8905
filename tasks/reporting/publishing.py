"""Publish a build's results in the Prefect UI."""

import re
from typing import Any

from prefect.artifacts import create_markdown_artifact, create_table_artifact

from storage.builds import summarise
from storage.directories import DirectoryRecord
from storage.recipes import most_first
from storage.schemas import DATASETS
from storage.store import Store
from tasks.engine.failure_logs import unless_prefect_is_away
from tasks.engine.recipe import StageResult
from tasks.engine.stage import StagePlan
from tasks.reporting.markdown import artifact

_SHOWN_SHARDS = 200  # rows of a table artifact; a thousand shards would exceed its size limit
_SUMMARY, PAGE, ARTIFACTS = "summary.txt", "report.html", "artifacts/"
METRICS = "metrics.jsonl"  # of a trained model
SPENDING = "spending"  # the artifact of what a run and its month cost
_HEADING = "## "  # of a section in Markdown


def artifact_key(corpus: str, name: str) -> str:
    """Return the key of an artifact, which is global in a server: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"{corpus}-{name}".lower()).strip("-")


def stage_key(corpus: str, stage: str) -> str:
    """Return the key of a stage's artifact."""
    return artifact_key(corpus, f"stage-{stage}")


def failures_key(corpus: str, stage: str) -> str:
    """Return the key of the artifact that names the hosts of a stage that failed most."""
    return f"{stage_key(corpus, stage)}-failures"


def training_key(corpus: str, directory: str) -> str:
    """Return the key of the artifact with the training curves of models/NAME."""
    return artifact_key(corpus, f"training-{directory.removeprefix('models/')}")


def part_name(file: str) -> str:
    """Return the name of a part of the report, by its file."""
    return file.removeprefix(ARTIFACTS).removesuffix(".md")


def publish_page(corpus: str, name: str, markdown: str, description: str) -> None:
    """Publish Markdown as an artifact of a corpus; a server that is away gets a warning in the log."""
    key = artifact_key(corpus, name)
    with unless_prefect_is_away(f"the artifact {key}"):
        create_markdown_artifact(key=key, markdown=markdown, description=description)


def publish_table(corpus: str, name: str, rows: list[dict[str, Any]], description: str) -> None:
    """Publish rows as a table artifact of a corpus, likewise."""
    key = artifact_key(corpus, name)
    with unless_prefect_is_away(f"the artifact {key}"):
        create_table_artifact(key=key, table=rows, description=description)


def publish_stage(result: StageResult, planned: StagePlan, corpus: str) -> str:
    """Publish a stage's counts as a table artifact, whose history the UI shows; return them in one line."""
    summary = summarise(result.records.values())
    drops = ", ".join(f"{reason} {count:,}" for reason, count in summary["drops"].items())
    rows = [
        {
            "shard": shard,
            "rows": record.written.rows,
            "kept": record.written.rows - sum(record.drops.values()),
            "refused": ", ".join(f"{reason} {count}" for reason, count in most_first(record.drops).items()),
            "bytes": record.written.bytes,
            "seconds": record.seconds,
            "peak MB": round(record.peak_bytes / 1e6),
            "key": record.key,
        }
        for shard, record in list(result.records.items())[:_SHOWN_SHARDS]
    ]
    line = f"{planned.stage}: {summary['rows']:,} rows in {planned.shards} shards, {summary['bytes'] / 1e6:.1f} MB"
    line += f"; refused: {drops}" if drops else ""
    create_table_artifact(
        key=stage_key(corpus, planned.stage),
        table=rows,
        description=f"{line}. Computed {planned.shards - planned.done} of {planned.shards} shards in this run.",
    )
    if summary["worst"]:
        blamed = str(DATASETS[result.stage].blamed)
        rows = []
        for value, counts in summary["worst"].items():
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in most_first(counts["drops"]).items())
            refused = sum(counts["drops"].values())
            rows.append({blamed: value, "rows": counts["rows"], "refused": refused, "reasons": reasons})
        about = f"{planned.stage}: where the most rows were refused."
        create_table_artifact(key=failures_key(corpus, planned.stage), table=rows, description=about)
    return line


def publish_training(store: Store, record: DirectoryRecord, corpus: str) -> None:
    """Publish the curves of a newly trained model as a Markdown artifact; other directories have none."""
    if METRICS not in record.files:
        return
    # Here, so that worker processes do not load matplotlib.
    from tasks.reporting.curves import model_section, stored_curves

    name = record.name.removeprefix("models/")
    if curves := stored_curves(store, name, record.path):
        create_markdown_artifact(
            key=training_key(corpus, record.name),
            markdown=artifact([model_section(name, curves)]),
            description=f"Training curves of {name}.",
        )


def report_text(store: Store, record: DirectoryRecord, page: str = PAGE) -> str:
    """Return the summary of a report and the path of its page as text."""
    summary = store.read_bytes(f"{record.path}/{_SUMMARY}").decode()
    return f"{summary}\nreport: {store.path(f'{record.path}/{page}')}"


def publish_parts(store: Store, record: DirectoryRecord, corpus: str) -> None:
    """Publish what a report made for artifacts; other directories have nothing."""
    for file in record.files:
        if file.startswith(ARTIFACTS):
            markdown = store.read_bytes(f"{record.path}/{file}").decode()
            publish_page(corpus, part_name(file), markdown, _shown(markdown))


def _shown(markdown: str) -> str:
    """Return what an artifact shows, by the headings of its sections."""
    return "; ".join(line.removeprefix(_HEADING) for line in markdown.splitlines() if line.startswith(_HEADING))
