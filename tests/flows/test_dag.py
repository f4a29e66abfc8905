"""The DAG is typed: mypy refuses every pair of inputs of a stage that are swapped."""

import ast
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.patience import PATIENCE

pytestmark = pytest.mark.integration

PROJECT = Path(__file__).parents[2]
SOURCE = (PROJECT / "flows" / "dag.py").read_text(encoding="utf-8")
# Only what gives the stages their types is read, so that a check takes seconds; everything else is Any.
READ = ("flows.stages.*", "flows.running.session", "tasks.engine.recipe", "storage.recipes", "storage.directories")
CONFIG = "[mypy]\nfollow_imports = skip\nignore_missing_imports = True\n" + "".join(
    f"[mypy-{module}]\nfollow_imports = silent\n" for module in READ
)
OTHERS = {  # what is replaced by another stage
    "paragraphs by documents": ("session, articles, paragraphs)", "session, articles, documents)"),
    "compared by paragraphs": ("texts.compared(session, paragraphs, overlaps), overlaps", "paragraphs, overlaps"),
    "compared by ranked": ("candidates(session).compared, features", "ranked(session), features"),
    "ranked by compared": ("articles(session), ranked(session))", "articles(session), candidates(session).compared)"),
    "predictions by baselines": ("ranked(session), predictions(session))", "ranked(session), baselines(session))"),
    "baselines by predictions": ("ranked(session), baselines(session))", "ranked(session), predictions(session))"),
    "summarizer by ranker": ("read(session), summarizer(session))", "read(session), ranker(session))"),
    "frontier by pages": ("texts.documents(session, frontier, pages)", "texts.documents(session, pages, pages)"),
    "a result by another": ("-> results.Scores:", "-> results.BaselineScores:"),
}


def swaps() -> Iterator[tuple[str, str]]:
    """Yield what is swapped, and the DAG with it: every pair of inputs of every call."""
    lines = SOURCE.splitlines(keepends=True)
    starts = [0, *itertools.accumulate(len(line.encode()) for line in lines)]
    source = SOURCE.encode()

    def place(node: ast.expr) -> slice:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return slice(starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)

    for call in ast.walk(ast.parse(SOURCE)):
        if not isinstance(call, ast.Call):
            continue
        inputs = [argument for argument in call.args if ast.unparse(argument) != "session"]
        for first, second in itertools.combinations(inputs, 2):
            one, two = place(first), place(second)
            swapped = (
                source[: one.start] + source[two] + source[one.stop : two.start] + source[one] + source[two.stop :]
            )
            yield f"{ast.unparse(call.func)}: {ast.unparse(first)}, {ast.unparse(second)}", swapped.decode()


def refused(folder: Path, sources: list[str]) -> list[bool]:
    """Whether mypy finds an input or result of a wrong type in each of some versions of the DAG."""
    (folder / "mypy.ini").write_text(CONFIG)
    for number, source in enumerate(sources):
        (folder / f"dag_{number}.py").write_text(source, encoding="utf-8")
    files = [f"dag_{number}.py" for number in range(len(sources))]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", "cache", *files],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    errors = [line for line in done.stdout.splitlines() if " error: " in line]
    assert all(line.endswith(("[arg-type]", "[return-value]")) for line in errors), errors
    return [any(line.startswith(f"{file}:") for line in errors) for file in files]


def test_every_swapped_input_is_a_type_error(tmp_path: Path) -> None:
    swapped = dict(swaps())
    assert len(swapped) > 80
    for name, (right, wrong) in OTHERS.items():
        assert right in SOURCE, name
        swapped[name] = SOURCE.replace(right, wrong, 1)
    untouched, *found = refused(tmp_path, [SOURCE, *swapped.values()])
    assert not untouched
    assert [name for name, one in zip(swapped, found, strict=True) if not one] == []
