"""How many small faults the tests notice: mutants of the code, drawn by chance, each against the tests that cover it.

    python -m tests.mutants                      # 60 of models, 40 of storage, 30 of the stage engine
    python -m tests.mutants --group storage --draw 10 --seed 3

The mutants are cosmic-ray's (`pip install .[mutants]`). Positions are drawn first and then one change of each, because
otherwise a single sum of many numbers would be most of the sample. Types, imports and `dataclass(frozen=True)` are not
changed. Each mutant changes one file in a copy of the tree, runs in a separate process, and is printed with its
outcome.
"""

import ast
import difflib
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from benchmarks.frame import command

ROOT = Path(__file__).resolve().parents[1]
# Group -> modules (a file, or a folder and all below it) -> the test files that cover them, quick ones first.
# The first line that names a module decides.
COVERED: dict[str, dict[str, str]] = {
    "models": {
        "models/__main__.py": "models/test_registry.py",
        "models/presets.py": "models/test_presets.py models/test_registry.py",
        "models/registry.py": "models/test_registry.py models/test_presets.py",
        "models/extractive.py": "models/test_extractive.py",
        "models/ranker.py": "models/test_ranker.py models/test_dropout.py",
        "models/vocabulary.py": "models/test_vocabulary.py",
        "models/attention_predictor.py": "models/test_attention_predictor.py models/test_guidance.py "
        "models/test_dropout.py",
        "models/search": "models/test_search.py",
        "models/training/batches.py": "models/training/test_batches.py",
        "models/training/layout.py": "models/training/test_batches.py models/training/test_trainer.py",
        "models/training/token_objective.py": "models/training/test_loss.py models/training/test_update.py",
        "models/training/state.py": "models/training/test_schedule.py",
        "models/training/checkpoints.py": "models/training/test_checkpoints.py models/training/test_trainer.py",
        "tasks/tables/efficiency.py": "models/test_live_memory.py",
        "models/training/distributed.py": "models/training/test_distributed.py models/training/test_trainer.py",
        "models/training": "models/training/test_update.py models/training/test_checkpoints.py "
        "models/training/test_trainer.py",
        "models/layers": "models/test_layers.py models/test_twins.py models/test_dropout.py models/test_summarizers.py",
        "models": "models/test_twins.py models/test_presets.py models/test_dropout.py models/test_parallel.py "
        "models/test_decoder_only.py models/test_hierarchical.py models/test_registry.py models/test_summarizers.py",
    },
    "storage": {
        "storage/formats": "storage/test_formats_ranked_wikisum.py",
        "storage/tables.py": "storage/test_digests.py",
        "storage/pruning.py": "storage/test_pruning.py storage/test_pruning_s3.py",
        "storage/registry.py": "storage/test_registry.py",
        "storage/directories.py": "storage/test_directories.py tasks/engine/test_stage.py",
        "storage/recipes.py": "storage/test_recipes.py tasks/engine/test_stage.py",
        "storage/builds.py": "storage/test_builds_and_lock.py storage/test_pruning.py",
        "storage/root.py": "storage/test_builds_and_lock.py storage/test_store_s3.py",
        "storage": "storage/test_store.py storage/test_recipes.py tasks/engine/test_stage.py storage/test_store_s3.py",
    },
    "engine": {
        "tasks/engine/stage.py": "tasks/engine/test_stage.py",
        "tasks/engine/shard.py": "tasks/engine/test_stage.py tasks/engine/test_failure_logs.py",
        "tasks/engine/recipe.py": "tasks/engine/test_stage.py",
        "tasks/engine/settings.py": "tasks/engine/test_recipes.py tasks/engine/test_stage.py",
    },
}
DRAW = {"models": 60, "storage": 40, "engine": 30}
SECONDS = 60.0  # added to ten times the tests' usual time, so that a mutant that never ends is detected


@dataclass(frozen=True)
class Mutant:
    """One change of one file."""

    module: str
    line: int
    operator: str
    occurrence: int
    tests: tuple[str, ...]


@dataclass(frozen=True)
class MutantOutcome:
    """The outcome of a mutant: "killed", "timed out" or "survived", and the test that noticed it."""

    outcome: str
    noticed_by: str = ""


def mutants_of(group: str) -> dict[tuple[str, tuple[int, int]], list[Mutant]]:
    """Return the mutants of each position (module, (line, column)) of a group."""
    mutants: dict[tuple[str, tuple[int, int]], list[Mutant]] = defaultdict(list)
    seen: set[str] = set()
    for prefix, tests in COVERED[group].items():
        files = [ROOT / prefix] if prefix.endswith(".py") else sorted((ROOT / prefix).rglob("*.py"))
        covering = tuple(name for name in (f"tests/{test}" for test in tests.split()) if (ROOT / name).is_file())
        for file in files:
            module = file.relative_to(ROOT).as_posix()
            if module in seen:
                continue
            seen.add(module)
            source = file.read_text()
            left_alone = typed_places(source)
            nodes = list(ast_nodes(get_ast(source)))
            for name in operator_names():
                if get_operator(name).arguments():
                    continue
                operator = get_operator(name)()
                positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
                for occurrence, start in enumerate(positions):
                    if not any(begin <= tuple(start) < end for begin, end in left_alone):
                        mutant = Mutant(module, start[0], name, occurrence, covering)
                        mutants[module, (start[0], start[1])].append(mutant)
    return mutants


def typed_places(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the spans of annotations, imports, aliases and dataclass decorators: (line, column) to (line, column)."""

    def span(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
        return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)

    spans = []
    for node in ast.walk(ast.parse(source)):
        typed = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Import | ast.ImportFrom):
            typed.append(node)
        if isinstance(node, ast.ClassDef):  # whether a class is frozen changes no result
            decorators = [decorator for decorator in node.decorator_list if "dataclass" in ast.unparse(decorator)]
            spans += [((decorator.lineno, 0), span(decorator)[1]) for decorator in decorators]
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            named = node.targets[0]
            if node.col_offset == 0 and isinstance(named, ast.Name) and not named.id.isupper() and named.id[0] != "_":
                typed.append(node.value)
        spans += [span(part) for part in typed if part is not None]
    return spans


def drawn(group: str, count: int, seed: int) -> list[Mutant]:
    """Draw `count` positions of a group and one mutant of each."""
    positions = sorted(mutants_of(group).items())
    draw = random.Random(f"{seed} {group}")
    print(
        f"{group}: {sum(len(mutants) for _, mutants in positions):,} mutants in {len(positions):,} positions",
        flush=True,
    )
    return [draw.choice(mutants) for _, mutants in draw.sample(positions, min(count, len(positions)))]


def copy_of_the_tree(folder: Path) -> None:
    """Copy what git tracks, or would."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def tested(tree: Path, tests: Sequence[str], seconds: float) -> MutantOutcome:
    """Run test files (or options of pytest) in a copy of the tree, up to the first test that fails."""
    log = tree.parent / "log"
    child = os.fork()  # so that PyTorch is imported only once, here, and not by each mutant
    if child == 0:
        os.setsid()
        with log.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(tree)
        sys.path[:] = [str(tree), *(path for path in sys.path if Path(path or ".").resolve() not in (ROOT, tree))]
        os.environ["PYTHONPATH"] = str(tree)
        import pytest

        options = [
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--hypothesis-profile=ci",
            "-m",
            "not slow and not shared_data",
        ]
        os._exit(int(pytest.main([*options, *tests])))
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            lines = log.read_text(errors="replace").splitlines()
            failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
            return MutantOutcome("killed" if status else "survived", failed[-1] if failed else "".join(lines[-1:]))
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return MutantOutcome("timed out")


def unharmed(tree: Path, tests: Sequence[str]) -> tuple[list[str], float]:
    """Return the tests without those that already fail without a mutant, and how long to wait for them (s)."""
    chosen = list(tests)
    for _ in range(5):
        started = time.monotonic()
        verdict = tested(tree, chosen, 3600)
        if verdict.outcome == "survived":
            return chosen, 10 * (time.monotonic() - started) + SECONDS
        print(f"left out, because it fails without a mutant: {verdict.noticed_by}", flush=True)
        chosen.append(f"--deselect={verdict.noticed_by.split(' ')[1]}")
    raise SystemExit(f"too many of {' '.join(tests)} fail without any mutant")


def verdicts(mutants: Sequence[Mutant]) -> Iterator[tuple[Mutant, str, MutantOutcome]]:
    """Try each mutant; yield it, its line of difference and its outcome."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        copy_of_the_tree(tree)
        known: dict[tuple[str, ...], tuple[list[str], float]] = {}
        for mutant in mutants:
            if mutant.tests not in known:
                known[mutant.tests] = unharmed(tree, mutant.tests)
            tests, patience = known[mutant.tests]
            file = tree / mutant.module
            source = file.read_text()
            changed = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
            lines = difflib.unified_diff(source.splitlines(), (changed or "").splitlines(), n=0, lineterm="")
            difference = " -> ".join(line[1:].strip() for line in list(lines)[3:])
            try:
                file.write_text(changed or "")
                yield mutant, difference, tested(tree, tests, patience)
            finally:
                file.write_text(source)


def wilson(hits: int, draws: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927)."""
    z = 1.959964
    share, weight = hits / draws, 1 + z**2 / draws
    half = z * math.sqrt(share * (1 - share) / draws + z**2 / (4 * draws**2))
    centre = share + z**2 / (2 * draws)
    return (centre - half) / weight, (centre + half) / weight


def main(group: tuple[str, ...] = (), draw: int | None = None, seed: int = 0, module: str | None = None) -> None:
    """Draw and try mutants, and print those that survived."""
    import pyarrow.parquet  # noqa: F401 - what every mutant's tests import, once
    import torch

    torch.set_num_threads(1)
    for name in group or COVERED:
        chosen = drawn(name, draw or DRAW[name], seed)
        if module:
            chosen = [mutant for mutant in chosen if mutant.module == module]
        killed = 0
        for mutant, difference, verdict in verdicts(chosen):
            killed += verdict.outcome != "survived"
            print(f"{verdict.outcome:9} {mutant.module}:{mutant.line} {mutant.operator}\n          {difference}")
            print(f"          {verdict.noticed_by}", flush=True)
        low, high = wilson(killed, len(chosen))
        print(f"{name}: {killed} of {len(chosen)} killed, {killed / len(chosen):.0%} (95 %: {low:.0%}-{high:.0%})")


if __name__ == "__main__":
    command(main, __doc__)
