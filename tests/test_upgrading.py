"""The page on upgrades lists every version of every stage, and the format of a root."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from storage.inventory import FORMAT
from storage.schemas import DATASETS

PROJECT = Path(__file__).parents[1]
PAGE = (PROJECT / "docs" / "upgrading.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w+) \| (\d+) \| (\S.*) \|$", PAGE, re.MULTILINE)


def versions_of_directories() -> Iterator[tuple[str, int]]:
    """Yield the function and version of every recipe of a model or report."""
    for path in sorted((PROJECT / "flows").rglob("*.py")):
        for stage in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(stage, ast.FunctionDef):
                continue
            for node in ast.walk(stage):
                if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "Recipe":
                    continue
                version = next((word.value for word in node.keywords if word.arg == "version"), None)
                if version is not None:
                    assert isinstance(version, ast.Constant)
                    function = node.args[1]  # a name for it is given in the same stage
                    names = list(functions(stage if isinstance(function, ast.Name) else function))
                    assert names, ast.unparse(node)
                    yield from ((name, version.value) for name in names)


def functions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and re.fullmatch(r"tasks[\w.]+:\w+", str(node.value)):
            yield node.value.rpartition(":")[2]


def test_every_version_of_every_stage_is_listed_once() -> None:
    now = {name: dataset.version for name, dataset in DATASETS.items()} | dict(versions_of_directories())
    assert {"documents", "train_ranker", "train_summarizer", "write_report"} <= now.keys()
    expected = [(name, version) for name in now for version in range(2, now[name] + 1)]
    listed = [(name, int(version)) for name, version, _ in ROWS]
    assert sorted(listed) == sorted(expected), "add a line to docs/upgrading.md for the version you raised"


def test_the_format_of_a_root_is_listed() -> None:
    assert [int(number) for number in re.findall(r"^\| (\d+) \| \S.* \|$", PAGE, re.MULTILINE)] == list(
        range(1, FORMAT + 1)
    )
