"""The benchmark of memory: what it runs, in which order, and that it runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.stage_memory import BAR_BYTES, STAGES, needed
from storage.schemas import DATASETS
from tests.patience import PATIENCE

PROJECT = Path(__file__).parents[2]


def test_inputs_come_first_and_once():
    assert needed(["features", "paragraphs"]) == ["articles", "documents", "paragraphs", "features"]
    assert needed(["frontier"]) == ["articles", "search", "frontier"]


def test_every_line_makes_a_dataset_or_a_directory():
    made = {name: stage.dataset or name for name, stage in STAGES.items()}
    assert {dataset for name, dataset in made.items() if dataset not in DATASETS} == {"models/ranker"}


@pytest.mark.slow
def test_a_small_run_measures_every_stage():
    # In a process of its own: one that a large process starts counts that one's memory as its own peak.
    command = [sys.executable, "-m", "benchmarks.stage_memory", "--articles", "10"]
    done = subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, text=True, timeout=PATIENCE)
    *lines, bar = done.stdout.splitlines()
    assert bar == f"bar {BAR_BYTES / 1e9} GB at 10 articles a shard"
    rows = {line.split()[0]: int(line.split()[1]) for line in lines}
    assert list(rows) == needed([name for name, stage in STAGES.items() if stage.measured])
    expected = {"frontier": 570, "extraction": 30, "paragraphs": 5250, "features": 5250, "vocabulary": 1, "ranked": 400}
    expected |= {"graphs": 10, "examples": 10, "ranking_scores": 80, "baselines": 40, "scores": 995}
    assert {name: rows[name] for name in expected} == expected
