"""What trackers hold of a report, read back from TensorBoard's files and from a real MLflow server."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from storage.directories import DirectoryRecord
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tasks.reporting.settings import ReportSettings
from tasks.reporting.trackers import track
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration
METRICS = {
    "headline": "values",
    "headline_scores": {"ht+similarity": 69.2},
    "table1": {"ranking": {"5": 31.5, "10": 42}},
}
SCORES = "## Scores\n\n| system | values F1 |\n| --- | ---: |\n| ht | 69.2 |\n"
PICTURE = "![a curve](data:image/png;base64,AAAA)\n\n"


def write(*, directory: Path) -> dict[str, Any]:
    files = {"report.html": "<p>all</p>", "artifacts/report-scores.md": SCORES, "artifacts/report-training.md": PICTURE}
    for name, text in files.items():
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(text)
    return {"published": list(files), **METRICS}


def train(*, directory: Path) -> dict[str, Any]:
    lines = [{"kind": kind, "step": step, "nll": 8 / step} for step in (1, 2, 4) for kind in ("train", "validation")]
    (directory / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return {"published": ["metrics.jsonl"]}


def tracked(root: Path, **settings: str) -> DirectoryRecord:
    run = Run(Store(str(root)), Executor())
    found = [run.directory(Recipe(*of), inputs={}).record for of in (("models/summarizer", train), ("reports", write))]
    model, report = (record for record in found if record is not None)
    many = {f"field{number:03}": number for number in range(130)}
    track(
        run.store, report, [model, report], "tiny", {"seed": 1, "text": "x" * 9_000, **many}, ReportSettings(**settings)
    )
    return report


def test_tensorboard_shows_curves_scores_and_tables(tmp_path: Path) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    key = tracked(tmp_path / "data", tensorboard=str(tmp_path / "logs")).key
    tracked(tmp_path / "data", tensorboard=str(tmp_path / "logs"))
    (folder,) = (tmp_path / "logs").iterdir()
    assert folder.name == f"tiny-{key[:8]}"
    (file,) = folder.iterdir()
    events = reading.EventAccumulator(str(file)).Reload()
    points = {name: [(one.step, one.value) for one in events.Scalars(name)] for name in events.Tags()["scalars"]}
    assert points == {
        "scores/values/ht+similarity": [(0, pytest.approx(69.2))],
        "ranking/ranking": [(5, 31.5), (10, 42)],
        "summarizer-nll/training": [(1, 8), (2, 4), (4, 2)],
        "summarizer-nll/validation": [(1, 8), (2, 4), (4, 2)],
    }
    texts = {name: events.Tensors(name)[0].tensor_proto.string_val[0].decode() for name in events.Tags()["tensors"]}
    assert texts == {"report-scores/text_summary": SCORES, "report-training/text_summary": ""}


@pytest.fixture
def mlflow(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("mlflow", reason="no MLflow here: pip install -e '.[trackers]'")
    command = shutil.which("mlflow")
    if command is None or subprocess.run([command, "server", "--help"], capture_output=True).returncode:
        pytest.skip("no MLflow server on this machine: pip install mlflow")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    kept = ["--backend-store-uri", f"sqlite:///{tmp_path}/runs.db", "--artifacts-destination", str(tmp_path / "files")]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    listen = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    server = subprocess.Popen([command, "server", *listen, *kept], env=environment, start_new_session=True)
    until = time.monotonic() + PATIENCE
    while True:
        try:
            if requests.get(f"{url}/health", timeout=PATIENCE).ok:
                break
        except requests.ConnectionError:
            assert server.poll() is None and time.monotonic() < until, "the MLflow server did not answer"
            time.sleep(0.5)
    yield url
    os.killpg(server.pid, signal.SIGTERM)
    server.wait(PATIENCE)


@pytest.mark.slow
def test_mlflow_has_one_run_of_a_report(tmp_path: Path, mlflow: str) -> None:
    def ask(path: str, **body: Any) -> Any:
        answer = requests.post(f"{mlflow}/api/2.0/mlflow/{path}", json=body, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.json()

    report = tracked(tmp_path / "data", mlflow=mlflow)
    tracked(tmp_path / "data", mlflow=mlflow)
    named = requests.get(
        f"{mlflow}/api/2.0/mlflow/experiments/get-by-name?experiment_name=tiny", timeout=PATIENCE
    ).json()
    (run,) = ask("runs/search", experiment_ids=[named["experiment"]["experiment_id"]])["runs"]
    assert (run["info"]["run_name"], run["info"]["status"]) == (f"tiny-{report.key[:8]}", "FINISHED")
    latest = {one["key"]: (one["step"], one["value"]) for one in run["data"]["metrics"]}
    assert latest["scores/values/ht_similarity"] == (0, 69.2)
    assert (latest["ranking/ranking"], latest["summarizer-nll/validation"]) == ((10, 42), (4, 2))
    parameters = {one["key"]: one["value"] for one in run["data"]["params"]}
    assert (len(parameters), parameters["seed"], len(parameters["text"])) == (132, "1", 6_000)
    kept = {path.name: path.read_text() for path in (tmp_path / "files").rglob("report*")}
    assert kept == {"report.html": "<p>all</p>", "report-scores.md": SCORES, "report-training.md": ""}


def test_a_tracker_that_is_away_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("mlflow", reason="no MLflow here: pip install -e '.[trackers]'")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with caplog.at_level("WARNING"):
        tracked(tmp_path, mlflow="http://127.0.0.1:9")
    assert "a tracker did not take report" in caplog.text
    assert "MLflow at http://127.0.0.1:9" in caplog.text
