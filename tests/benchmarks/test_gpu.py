"""The benchmark for GPU machines, at its tiny scale on the CPU."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.frame import command
from benchmarks.gpu.__main__ import main
from benchmarks.gpu.training import largest
from benchmarks.gpu.workload import SCALES, SYSTEMS, BenchmarkedSystem
from benchmarks.peers.plain_design import PlainObjective, plain_design
from models.training.batches import BatchStream
from models.training.token_objective import TokenObjective
from tests.test_rooms import LEAN, PROJECT, imported

TINY = SCALES["tiny"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_plain_design_computes_the_same_loss_and_gradient(name: str) -> None:
    system = BenchmarkedSystem(name, TINY)
    model = system.model(dropout=0.0, attention_dropout=0.0, activation_dropout=0.0).double().train()
    stream = BatchStream([system.articles()], system.layout(), batch_tokens=TINY.batch_tokens, seed=1)
    batch = next(stream.batches())
    assert not batch.source.token_mask.all()  # ragged, or the two designs would not differ

    def loss_and_gradient(kind: type[TokenObjective]) -> tuple[torch.Tensor, ...]:
        model.zero_grad()
        objective = kind(model, batch_tokens=0)
        loss, *measures = objective.loss(*objective.inputs(batch, torch.device("cpu")))
        loss.backward()
        return loss, *measures, *(p.grad for p in model.parameters() if p.grad is not None)

    ours = loss_and_gradient(TokenObjective)
    with plain_design():
        plain = loss_and_gradient(PlainObjective)
    for expected, found in zip(ours, plain, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5, check_dtype=False)


@pytest.mark.parametrize("limit", [0, 1, 2, 7, 8, 37])
def test_the_largest_batch_is_found(limit: int) -> None:
    assert largest(lambda articles: articles <= limit) == limit


def test_it_needs_few_packages() -> None:
    """A GPU machine has neither Prefect nor what `tasks` needs."""
    files = [*(PROJECT / "benchmarks/gpu").glob("*.py"), *(PROJECT / "benchmarks/peers").glob("*.py")]
    files += [PROJECT / f"benchmarks/{name}.py" for name in ("frame",)]
    allowed = LEAN | {"benchmarks", "models", "storage"} | sys.stdlib_module_names
    assert {name for path in files for _, name in imported(path)} <= allowed
    # Only these files of `benchmarks` are imported, so that no other one brings more packages along.
    names = {
        node.module
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("benchmarks.")
    }
    ours = {"benchmarks.frame"}
    assert {name for name in names if not name.startswith(("benchmarks.gpu", "benchmarks.peers."))} == ours


def gpu(*options: object) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-m", "benchmarks.gpu", "--device", "cpu", "--scale", "tiny", *map(str, options)]
    return subprocess.run(call, capture_output=True, text=True, cwd=PROJECT, check=False)


@pytest.mark.slow
@pytest.mark.integration
def test_every_part_is_measured(tmp_path: Path) -> None:
    done = gpu("--json", tmp_path / "gpu.json", "--parts", "training", "memory", "decoding", "precision")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "gpu.json").read_text())
    rows = {(row["part"], row["system"]): row for row in figures["rows"]}
    for name in SYSTEMS:
        row = rows["training", name]
        assert row["flops_per_token"] > 0
        for side in ("ours", "plain"):
            assert row[side]["tokens_per_second"] > 0
            assert row[side]["peak_bytes"] > 0
        assert 0 <= row["ours"]["padding"] < 1
        assert all(way["agrees"] for way in (rows["precision", name][key] for key in ("float32", "TF32", "bfloat16")))
        assert f"\n{name} " in done.stdout
    # A tiny run times too few batches of one system to compare their padding; those of all systems together are enough.
    ours, plain = (sum(rows["training", name][side]["padding"] for name in SYSTEMS) for side in ("ours", "plain"))
    assert ours < plain
    ht = rows["training", "HT"]
    assert ht["ours"]["peak_bytes"] < ht["plain"]["peak_bytes"]
    assert rows["memory", "PHT"]["articles"] > 0
    assert [rows["decoding", name]["same"] for name in ("HT", "GraphSum", "PHT")] == [1, 1, 1]
    assert list(tmp_path.iterdir()) == [tmp_path / "gpu.json"]


@pytest.mark.slow
@pytest.mark.integration
def test_compiling_is_measured() -> None:
    done = gpu("--parts", "compile")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(("FT-1600", "HT", "PHT"))]
    assert [line[0] for line in lines] == ["FT-1600", "HT", "PHT"]
    assert [int(line[-1]) for line in lines] == [0, 0, 0]  # a training step is one graph


def _here(monkeypatch: pytest.MonkeyPatch, *options: object) -> int | str | None:
    """Run it in this process, which has PyTorch already; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["benchmarks.gpu", "--device", "cpu", "--scale", "tiny", *map(str, options)])
    with pytest.raises(SystemExit) as end:
        command(main, None)
    return end.value.code


@pytest.mark.integration
def test_what_no_time_is_left_for_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert _here(monkeypatch, "--minutes", 0.001, "--parts", "decoding") == 1
    done = capsys.readouterr()
    assert done.out.count("failed: no time left (--minutes)") == 3
    assert "3 of 3 measurements are missing" in done.err


def test_bad_options_are_named_before_work_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _here(monkeypatch, "--json", tmp_path / "no/gpu.json") == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert "expected --json in a folder that exists" in done.err
