"""What TensorBoard holds of a report, read back from its files."""

import json
from pathlib import Path
from typing import Any

import pytest

from storage.directories import DirectoryRecord
from storage.store import Store
from tasks.engine.recipe import Recipe
from tasks.engine.stage import Executor, Run
from tasks.reporting.tensorboard import write_events

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


def written(root: Path, to: Path) -> DirectoryRecord:
    run = Run(Store(str(root)), Executor())
    found = [run.directory(Recipe(*of), inputs={}).record for of in (("models/summarizer", train), ("reports", write))]
    model, report = (record for record in found if record is not None)
    write_events(run.store, report, [model, report], "tiny", str(to))
    return report


def test_tensorboard_shows_curves_scores_and_tables(tmp_path: Path) -> None:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    key = written(tmp_path / "data", tmp_path / "logs").key
    written(tmp_path / "data", tmp_path / "logs")
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


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "logs").write_text("a file")
    with caplog.at_level("WARNING"):
        written(tmp_path / "data", tmp_path / "logs")
    assert "TensorBoard's files of report" in caplog.text
