"""A table of stage -> version and digest of its source code, so that no change of a stage is overlooked.

A shard's key contains the stage's version, not its code: if code changes a stage's output without a new version, the
old shards still count as done. So the table `stage_code.json` records the code for which a version was last confirmed,
and a test compares it with the present code. Whoever changes a stage raises its version, or confirms that the output is
the same:

    python -m tasks.engine.stage_code               # record stages whose version has risen, name those it has not
    python -m tasks.engine.stage_code --same features.compute_features

The code of a stage is the module of its function and every module of tasks/ and models/ that it imports, directly or
not. Docstrings, comments, layout and the descriptions of settings do not count, nor where a module lies.
"""

import argparse
import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from storage import schemas

PROJECT = Path(__file__).parents[2]
TABLE = Path(__file__).with_suffix(".json")
_WIRING = ("flows", "tasks")  # rooms in whose modules stages are wired
_COUNTED = ("tasks", "models")  # rooms whose modules decide what a stage makes; storage has its own versions: schemas
_NOT_CODE = {"ctx", "kind", "type_comment", "type_params"}  # syntax tree fields that differ between Python versions


@dataclass(frozen=True)
class StageCode:
    """A stage's version and the digest of the code that makes it.

    Attributes:
        version: of its dataset, or in the recipe of its directory.
        code: 16 hex digits.
    """

    version: int
    code: str


def stage_codes(project: Path = PROJECT) -> dict[str, StageCode]:
    """Return every stage of the flows, as DATASET.FUNCTION or directory.FUNCTION, with its version and code."""
    codes = {}
    for room in _WIRING:
        for path in sorted((project / room).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for kind, version, function in _wired(tree):
                module, _, name = function.rpartition(":")
                own = module or _module_name(project, path)
                codes[f"{kind}.{name}"] = StageCode(version, code_digest(project, own))
    return dict(sorted(codes.items()))


def overlooked(now: dict[str, StageCode], table: dict[str, StageCode]) -> list[str]:
    """Return the stages whose code has changed under the same version."""
    return [
        name
        for name, stage in now.items()
        if name in table and stage.version == table[name].version and stage.code != table[name].code
    ]


def read_table(path: Path = TABLE) -> dict[str, StageCode]:
    """Return the recorded table; empty if there is none."""
    if not path.exists():
        return {}
    return {name: StageCode(**fields) for name, fields in json.loads(path.read_text(encoding="utf-8")).items()}


def record(now: dict[str, StageCode], same: list[str], path: Path = TABLE) -> list[str]:
    """Record the stages that are in order, and return those whose change is still overlooked.

    Args:
        now: the present stages.
        same: stages whose output is the same despite their changed code; "all" for every one.
        path: the table.

    Raises:
        ValueError: a name in `same` is not a stage.
    """
    unknown = sorted(set(same) - now.keys() - {"all"})
    if unknown:
        raise ValueError(f"no stage {unknown[0]!r}: expected all, or some of {', '.join(now)}")
    table = read_table(path)
    left = [] if "all" in same else [name for name in overlooked(now, table) if name not in same]
    kept = {name: table[name] if name in left else stage for name, stage in now.items()}
    lines = [f'  "{name}": {{"version": {stage.version}, "code": "{stage.code}"}}' for name, stage in kept.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return left


def code_digest(project: Path, module: str) -> str:
    """Return 16 hex digits of the code of a module and of the counted modules that it imports; paths do not matter."""
    pending, seen = [module], set[str]()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += _imported_modules(project, name)
    digests = sorted({_source(project, name) for name in seen})
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


@cache
def _source(project: Path, module: str) -> str:
    """Return the digest of one module's code."""
    return hashlib.sha256(json.dumps(plain(_tree(project, module))).encode()).hexdigest()


def plain(node: Any) -> Any:
    """Return code as lists and strings without what does not affect it, the same in every version of Python."""
    if isinstance(node, list):
        return [plain(child) for child in node if not _says_nothing(child)]
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.ImportFrom | ast.Import):
        return ["import", *sorted(f"{alias.name.rpartition('.')[2]} {alias.asname or ''}" for alias in node.names)]
    fields = {name: child for name, child in ast.iter_fields(node) if child not in (None, []) and name not in _NOT_CODE}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "Field":
            fields["keywords"] = [keyword for keyword in node.keywords if keyword.arg != "description"]
        elif node.func.id == "tuning":  # (default, description)
            fields["args"] = node.args[:1]
    return [type(node).__name__, *([name, plain(child)] for name, child in fields.items())]


def _says_nothing(node: Any) -> bool:
    """Whether a statement is a docstring or another lone string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _wired(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Yield (dataset or "directory", version, module:function) of every recipe that a module writes.

    A function of the module itself is named alone.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or len(node.args) < 2 or getattr(node.func, "id", "") != "Recipe":
            continue
        made, named = node.args[:2]
        assert isinstance(named, ast.Constant | ast.Name), (
            f"line {node.lineno}: which function is {ast.unparse(named)}?"
        )
        function = str(named.value) if isinstance(named, ast.Constant) else named.id
        versions = [keyword.value for keyword in node.keywords if keyword.arg == "version"]
        if not versions:
            dataset = getattr(schemas, made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", ""), None)
            assert isinstance(dataset, schemas.Dataset), f"line {node.lineno}: which dataset is {ast.unparse(made)}?"
            yield dataset.name, dataset.version, function
        else:
            assert isinstance(versions[0], ast.Constant), f"line {node.lineno}: expected version=NUMBER"
            version = versions[0].value
            assert isinstance(version, int)
            yield "directory", version, function


@cache
def _imported_modules(project: Path, module: str) -> tuple[str, ...]:
    """Return the modules of the counted rooms that a module imports, in functions too."""
    modules: list[str] = []
    for node in ast.walk(_tree(project, module)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        modules += [name for name in names if name.partition(".")[0] in _COUNTED and _path(project, name) is not None]
    return tuple(modules)


@cache
def _tree(project: Path, module: str) -> ast.Module:
    path = _path(project, module)
    assert path is not None, module
    return ast.parse(path.read_text(encoding="utf-8"))


def _path(project: Path, module: str) -> Path | None:
    """Return the file of a module, or None if the name is something inside a module."""
    stem = project.joinpath(*module.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


def _module_name(project: Path, path: Path) -> str:
    return ".".join(path.relative_to(project).with_suffix("").parts)


def main() -> int:
    """Record the table; return 1 if a stage's code has changed under the same version."""
    parser = argparse.ArgumentParser(
        prog="python -m tasks.engine.stage_code", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--same", nargs="+", default=[], metavar="STAGE", help="stages whose output is unchanged; or all"
    )
    try:
        left = record(stage_codes(), parser.parse_args().same)
    except ValueError as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return 2
    for name in left:
        sys.stdout.write(f"{name}: its code has changed; raise its version, or say --same {name}\n")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
