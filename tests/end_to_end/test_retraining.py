"""Two weeks of retraining on the embedded web, as a schedule runs them, and the way back."""

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from prometheus_client import generate_latest

from benchmarks.tiny_runs import PROJECT
from flows.running.metrics import registry
from tests.end_to_end.test_build import SMALL
from tests.flows.running.test_metrics import figures
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration

RETRAINING = [
    "--source.miniweb.topics=60",
    "--source.miniweb.edits=0.03",
    "--source.miniweb.deaths=0",
    "--shards.articles=8",
    "--retraining.ranker-steps=5",
    "--ranking.method=similarity",  # a better ranker would rank all articles again
    "--retraining.summarizer-steps=4",
    "--retraining.warmup=4",
    "--retraining.keep=1",
]


def call(environment: dict[str, str], flow: str, root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "flows", flow, "--root", str(root), *arguments]
    done = subprocess.run(
        command,
        check=False,
        cwd=PROJECT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout


def week(environment: dict[str, str], root: Path, number: int) -> str:
    changing = [f"--source.miniweb.week={number}", f"--retraining.week=2026-W{number + 1:02d}"]
    code, output = call(environment, "retrain", root, *SMALL, *RETRAINING, *changing)
    assert code == 0, output[-6000:]
    return output


def read(root: Path, file: str) -> Any:
    return json.loads((root / "registry" / file).read_text())


def check_figures_of_the_first_version(root: Path) -> None:
    """Prometheus gets the means of its scores, all of which are on the frozen split, and when it was promoted."""
    found = figures(generate_latest(registry(str(root))).decode())
    build = read(root, "versions/000001.json")["build"]
    files = json.loads((root / f"builds/{build}.json").read_text())["stages"]["challenger_scores"]
    scores = pa.concat_tables(pq.read_table(root / file) for file in files.values())
    means = scores.group_by("metric").aggregate([("value", "mean")]).to_pylist()
    assert {"values", "said", "rougeL"} <= {row["metric"] for row in means}
    for row in means:
        assert found[f"wikisum_champion_score{{{row['metric']}}}"] == pytest.approx(row["value_mean"])
    promoted = read(root, "champion.json")["history"][0]["at"]
    assert found["wikisum_champion_timestamp_seconds{}"] == datetime.fromisoformat(promoted).timestamp()


@pytest.mark.slow
def test_two_weeks(tmp_path: Path) -> None:
    root = tmp_path / "data"
    environment = {
        **os.environ,
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_URL": "",
    }
    output = week(environment, root, 0)
    assert "2026-W01: version 1 promoted: the first version" in output
    frozen = read(root, "frozen.json")
    check_figures_of_the_first_version(root)

    output = week(environment, root, 1)
    second = read(root, "versions/000002.json")
    assert (second["parent"], second["label"]) == (1, "2026-W02")
    assert second["vocabulary"] == read(root, "versions/000001.json")["vocabulary"]
    # One topic in a hundred is new and three are edited: most of the eight shards are as they were.
    for stage in ("articles", "search", "frontier", "features", "ranked", "graphs", "slot-examples"):
        computed, of = second["computed"][stage]
        assert 0 <= computed < of, (stage, computed, of)
    assert second["computed"]["articles"][0] > 0
    assert "vocabulary" not in second["computed"]
    assert read(root, "frozen.json") == frozen
    champion = read(root, "champion.json")["version"]
    assert champion == (2 if second["verdict"]["promoted"] else 1)

    output = week(environment, root, 1)  # a run that comes late finds its week done
    assert "computing" not in output
    assert not (root / "registry/versions/000003.json").exists()

    other = 3 - champion
    code, output = call(environment, "promote", root, "--to", str(other))
    assert code == 0, output
    assert f"version {other} (2026-W0{other}, " in output
    assert [entry["version"] for entry in read(root, "champion.json")["history"]][-2:] == [champion, other]
    code, output = call(environment, "promote", root, "--to", "9")
    assert code == 1
    assert "no version 9 below" in output
