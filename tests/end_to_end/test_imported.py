"""Our corpus exported to ranked shards, imported elsewhere, trained on, decoded and scored: as a user does it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.tiny_runs import PROJECT
from tests.end_to_end.test_build import SMALL
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration

CRAWL = {"intake", "search", "frontier", "pages", "documents"}


def call(environment: dict[str, str], *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        check=False,
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done.stdout


def rows(root: Path, stage: str) -> pa.Table:
    table = pa.concat_tables([pq.read_table(path) for path in sorted((root / stage).glob("part-*.parquet"))])
    return table.sort_by("article_id")


@pytest.mark.slow
def test_what_was_exported_is_imported_trained_on_decoded_and_scored(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_URL": "",
    }
    ours, folder, theirs = tmp_path / "ours", tmp_path / "ranked", tmp_path / "theirs"
    call(environment, "flows", "build", "--root", ours, *SMALL, "--summarizer.no-slots")
    call(environment, "flows", "export", "--root", ours, "--to", folder, "--layout", "pt")
    settings = tmp_path / "theirs.yaml"
    settings.write_text(
        f"imported: {{folder: {folder}, vocabulary: {folder}/spm.model, sentence_marks: drop}}\n"
        "summarizer: {graph: none}\n"
    )
    steps = [*SMALL, "--training.steps=5", "--config", settings, "--root", theirs]
    call(environment, "flows", "train", *steps)
    folders = {path.name for path in theirs.iterdir() if path.is_dir()}
    assert folders == {"articles", "builds", "examples", "models", "vocabulary"}
    output = call(environment, "flows", "build", *steps)
    for system in ("lead", "lexrank", "greedy-rouge2", "ht-small-2"):
        assert system in output
    assert not CRAWL & {path.name for path in theirs.iterdir()}
    (model,) = (theirs / "models" / "summarizer").glob("*.json")
    assert json.loads(model.read_text())["metrics"]["steps"] == 5
    kept = ["split", "source", "target", "target_text"]

    def sorted_rows(root: Path) -> list[str]:
        return sorted(json.dumps(row) for row in rows(root, "examples").select(kept).to_pylist())

    assert sorted_rows(theirs) == sorted_rows(ours)
    tests = rows(theirs, "examples").to_pylist()
    ids = {row["article_id"] for row in tests if row["split"] == "test"}
    predicted = rows(theirs, "predictions")
    assert {
        id_
        for id_, system in zip(predicted["article_id"].to_pylist(), predicted["system"].to_pylist(), strict=True)
        if system == "ht-small-2"
    } == ids
    scores = rows(theirs, "scores").to_pylist()
    assert {row["article_id"] for row in scores if row["system"] == "ht-small-2"} == ids
    recalls = [row["recall"] for row in scores if (row["system"], row["metric"]) == ("greedy-rouge2", "rouge1")]
    assert max(recalls) > 0.3
