"""Which libraries decide which stages, and what is made again when one of them has another version."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from storage.errors import MissingFilesError
from storage.inventory import LIBRARIES as FILE
from storage.inventory import take_stock
from storage.keyed_libraries import read_keyed_libraries, save_keyed_libraries
from storage.schemas import DATASETS
from storage.store import Store
from tasks.engine import libraries, shard
from tasks.engine.libraries import changed_libraries, key_libraries
from tasks.engine.provenance import DECIDING, LIBRARIES
from tasks.engine.stage import Run
from tests.tasks.engine.test_stage import CountingExecutor, Knobs, wire

PROJECT = Path(__file__).parents[3]
OURS = ("models", "storage", "tasks")
OF_TRAFILATURA = {"justext"}  # it imports this one for us
IMPORTS = "tasks.exchange"  # it takes files of other people in one module for several stages
MOVES_ROWS = {"index_files"}  # stages that only list or move what others made


def file_of(module: str) -> Path | None:
    path = PROJECT / module.replace(".", "/")
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


packages = cache(metadata.packages_distributions)


@cache
def imported(module: str) -> frozenset[str]:
    """Every module that a module of ours names in an import, also within functions."""
    file = file_of(module)
    assert file is not None, module
    names = set[str]()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def libraries_below(module: str) -> set[str]:
    """The distributions that a module and all modules of ours below it import."""
    of_package = packages()
    seen, todo, result = set[str](), [module], set[str]()
    while todo:
        if (name := todo.pop()) in seen:
            continue
        seen.add(name)
        for other in imported(name):
            top = other.partition(".")[0]
            if top not in OURS:
                result.update(distribution.lower().replace("_", "-") for distribution in of_package.get(top, ()))
            elif file_of(other):
                todo.append(other)
    return result


def made_by() -> dict[str, set[str]]:
    """Dataset, or `models` -> the modules of the functions that make it, as the flows wire them."""
    schemas = {dataset.name.upper(): name for name, dataset in DATASETS.items()}
    result = defaultdict[str, set[str]](set)
    for path in sorted((PROJECT / "flows").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                modules = {
                    node.value.partition(":")[0]
                    for node in ast.walk(function)
                    if isinstance(node, ast.Constant) and str(node.value).startswith("tasks.") and ":" in node.value
                }
                for made in targets(function, schemas):
                    result[made] |= modules
    return result


def targets(function: ast.FunctionDef, schemas: dict[str, str]) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Recipe":
            made = node.args[0]
            if isinstance(made, ast.Attribute):
                yield schemas[made.attr]
            elif ast.unparse(made).strip("f'\"").startswith("models/"):
                yield "models"


def test_every_library_of_the_table_is_imported_by_what_makes_the_stage() -> None:
    for made, modules in made_by().items():
        below = set().union(*map(libraries_below, modules)) | OF_TRAFILATURA
        assert set(DECIDING.get(made, ())) <= below, made


def test_the_table_has_every_dataset_and_the_libraries_that_its_function_imports_itself() -> None:
    makers = made_by()
    assert DECIDING.keys() == {*DATASETS, "models"} - MOVES_ROWS
    assert {"documents", "models", "features"} <= makers.keys()
    of_package = packages()
    for made, modules in makers.items():
        own_modules = {module for module in modules if not module.startswith(IMPORTS)}
        for name in set().union(*map(imported, own_modules)):
            own = {item.lower().replace("_", "-") for item in of_package.get(name.partition(".")[0], ())}
            assert own & LIBRARIES <= set(DECIDING.get(made, ())), (made, name)


def build(root: Path, monkeypatch: pytest.MonkeyPatch, asked: bool = False, **versions: str) -> list[str]:
    """Walk a small DAG with some versions of libraries installed; return what was computed."""
    for module in (shard, libraries):
        monkeypatch.setattr(module, "running_code", lambda: {"python": "3.11.7", **versions})
    store = Store(str(root))
    keyed = key_libraries(store, LIBRARIES if asked else ())
    run = Run(store, executor := CountingExecutor(), libraries=keyed)
    wire(run, Knobs(), [])
    run.record_build({})
    return executor.made


def test_what_another_version_made_is_made_again_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = {"torch": "2.6", "scipy": "1.15", "tld": "1"}, {"torch": "2.13", "scipy": "1.15", "tld": "2"}
    assert len(build(tmp_path, monkeypatch, **old)) == 11
    first = sorted(file.name for file in tmp_path.glob("models/ranker/*.json"))
    assert build(tmp_path, monkeypatch, **new) == []  # by itself it recomputes nothing
    store = Store(str(tmp_path))
    latest = libraries.latest_build(store)
    assert latest is not None
    # None of these stages reads tld.
    assert changed_libraries(libraries.codes(store, latest)) == {"models/ranker": {"torch": {"2.6"}}}
    assert build(tmp_path, monkeypatch, asked=True, **new) == ["models/ranker"]  # which comes out equal: nothing below
    assert read_keyed_libraries(store) == {"models/ranker": {"torch": "2.13"}}
    # The model of the old version is still there, as builds that name it need it.
    assert set(first) < {file.name for file in tmp_path.glob("models/ranker/*.json")}
    assert build(tmp_path, monkeypatch, **new) == []  # the next command, which does not ask, stays with the new model
    assert build(tmp_path, monkeypatch, asked=True, **new) == []
    assert build(tmp_path, monkeypatch, **{**new, "torch": "2.14"}) == []


def test_a_missing_library_and_one_that_was_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path, monkeypatch, torch="2.6")
    assert build(tmp_path, monkeypatch, asked=True, scipy="1") == ["models/ranker"]  # torch is gone here
    assert read_keyed_libraries(Store(str(tmp_path))) == {"models/ranker": {"torch": "none"}}


def test_a_lost_file_of_keyed_libraries_is_named(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    take_stock(store)
    assert read_keyed_libraries(store) == {}
    save_keyed_libraries(store, {"documents": {"trafilatura": "2.0.0"}})
    assert read_keyed_libraries(store) == {"documents": {"trafilatura": "2.0.0"}}
    store.delete(FILE)
    with pytest.raises(MissingFilesError, match=r"registry/libraries\.json"):
        read_keyed_libraries(store)
