"""What a run leaves in the Prefect UI, read back from a real (temporary) server."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import requests
from prefect import flow
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows.running.execution import PrefectExecutor
from flows.running.settings import EngineSettings
from storage.builds import summarise
from storage.schemas import PAGES
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tasks.reporting.publishing import publish_parts, report_text
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration


def artifact(key: str) -> Any:
    # Prefect's own client asks for artifacts in a form that the pinned server refuses (422).
    return requests.get(f"{PREFECT_API_URL.value()}/artifacts/{key}/latest", timeout=PATIENCE)


def pages(*, shard: int) -> pa.Table:
    """Shard 0 holds two hosts of which one fails, shard 1 a host that fails more often."""
    reasons = ["connection", "http_404", "http_404"]
    hosts = (
        [("good.example", None), ("bad.example", "timeout")] if shard == 0 else [("worse.example", r) for r in reasons]
    )
    return pa.Table.from_pylist([{"host": host, "reason": reason} for host, reason in hosts], schema=PAGES.schema)


def train(*, directory: Path) -> dict[str, Any]:
    lines = [{"kind": "train", "step": step, "loss": 1.0, "nll": 1.0} for step in (1, 2)]
    (directory / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"published": ["metrics.jsonl"]}


def write(*, directory: Path) -> dict[str, Any]:
    (directory / "page.html").write_text("no training")
    return {"published": ["page.html"]}


def test_the_worst_hosts_of_all_shards_are_in_the_counts(tmp_path: Path) -> None:
    run = Run(Store(str(tmp_path)), Executor())

    summary = summarise(
        run.stage(Recipe(PAGES, pages, per_shard={"shard": range(2)}), shards=2, inputs={}).records.values()
    )

    assert list(summary["worst"].items()) == [
        ("worse.example", {"rows": 3, "drops": {"connection": 1, "http_404": 2}}),
        ("bad.example", {"rows": 1, "drops": {"timeout": 1}}),
    ]


def report(*, directory: Path) -> dict[str, Any]:
    (directory / "summary.txt").write_text("scores\n\nbetter")
    (directory / "artifacts").mkdir()
    (directory / "artifacts/report-scores.md").write_text("## Scores")
    return {"published": ["summary.txt", "artifacts/report-scores.md"]}


@pytest.mark.filterwarnings("ignore:Artifact creation outside:FutureWarning")  # in a flow the server would be there
def test_a_report_is_told_of_where_the_server_is_away(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run = Run(Store(str(tmp_path)), Executor())
    made = run.directory(Recipe("reports", report, version=1), inputs={})
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):  # nothing listens on the discard port
        assert made.record is not None
        publish_parts(run.store, made.record, "tiny")
        text = report_text(run.store, made.record)
    assert text.startswith("scores\n\nbetter\nreport: ")
    assert "the Prefect server did not take the artifact tiny-report-scores: " in caplog.text


def test_a_crawl_leaves_its_worst_hosts_and_a_training_its_curves(prefect_server: None, tmp_path: Path) -> None:
    @flow
    def small(root: str) -> None:
        executor = PrefectExecutor(EngineSettings(kind="threads"))
        with executor.serving():
            run = Run(Store(root), executor)
            run.stage(Recipe(PAGES, pages, per_shard={"shard": range(2)}), shards=2, inputs={})
            run.directory(Recipe("models/HT +rank", train, version=1), inputs={})
            run.directory(Recipe("pages/none", write, version=1), inputs={})

    small(str(tmp_path))

    assert json.loads(artifact("stage-pages-failures").json()["data"]) == [
        {"host": "worse.example", "rows": 3, "refused": 3, "reasons": "http_404 2, connection 1"},
        {"host": "bad.example", "rows": 1, "refused": 1, "reasons": "timeout 1"},
    ]
    curves = artifact("training-ht-rank").json()["data"]
    assert curves.startswith("## Training of HT +rank\n\n![Summarizer: negative log likelihood](data:image/png;base64,")
    assert artifact("training-pages-none").status_code == 404
