"""Every regular expression of the project: those that its modules hold, and those that calls of `re` name.

The source says where patterns are: a call of `re` that reads only names of its module is evaluated there, one at the
top of a module is found in what it is assigned to, and one that reads names of a function must be listed as `made`.
Nothing else may make or use a pattern: `re` is imported by its name alone, and only its known functions are called.
"""

import ast
import functools
import importlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).parents[1]
ROOMS = ("flows", "tasks", "models", "storage")
_FUNCTIONS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
_OTHERS = {
    "escape",
    "Pattern",
    "Match",
    "error",
    "IGNORECASE",
    "I",
    "ASCII",
    "MULTILINE",
    "M",
    "DOTALL",
    "S",
    "X",
    "VERBOSE",
}
_ENGINES = {"regex", "re2", "rure", "hyperscan"}  # others, which this census would not see
_AUTOMATON = "tasks.paragraphs.quality"  # gives another engine patterns of `re` that it gets compiled, so seen here
_ANCHORED = {"match", "fullmatch"}


class Found(NamedTuple):
    """A pattern.

    Attributes:
        place: module and line, or module and name.
        pattern: compiled.
        method: how it is used: match, fullmatch, or finditer for every other way, which tries each place of a text.
    """

    place: str
    pattern: re.Pattern[Any]
    method: str


def modules() -> Iterator[str]:
    """Yield the name of every module of the project."""
    for room in ROOMS:
        for path in sorted((PROJECT / room).rglob("*.py")):
            parts = path.relative_to(PROJECT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def census(
    made: Mapping[str, list[Found]], trees: Mapping[str, ast.Module] | None = None
) -> tuple[list[Found], list[str]]:
    """Return the patterns of the project, each once, and what the census cannot see, as `place: why`.

    Args:
        made: by `module:function`, examples of the patterns that the function makes from its arguments.
        trees: by module, its syntax; None = of every module of the project.
    """
    trees = {name: _tree(name) for name in modules()} if trees is None else trees
    found: list[Found] = []
    unseen: list[str] = []
    for name, tree in trees.items():
        unseen += _strangers(name, tree)
        calls = [node for node in _nodes(tree) if _called(node)]
        if not calls:
            continue
        namespace = vars(importlib.import_module(name))
        tops = {id(child): top for top in _tops(tree) for child in ast.walk(top)}
        functions = {id(child): node for node in _functions(tree) for child in ast.walk(node)}
        for call in calls:
            place = f"{name}:{call.lineno}"
            if id(call) not in functions:
                held = _assigned(name, tops[id(call)], namespace, trees)
                found += held
                unseen += [] if held else [f"{place}: no pattern is found in what it is assigned to"]
                continue
            function = functions[id(call)]
            where = f"{name}:{function.name}"
            pattern = _evaluated(call, function, namespace)
            if pattern is not None:
                found.append(Found(place, pattern, _method({_called(call) or ""})))
            elif where in made:
                found += made[where]
            else:
                unseen.append(f"{where}: makes a pattern of its arguments, of which there is no example")
    return list({(each.pattern, each.method): each for each in found}.values()), unseen


def _tree(name: str) -> ast.Module:
    path = PROJECT.joinpath(*name.split("."))
    file = path.with_suffix(".py")  # a folder of that name may be left from before, with nothing but caches
    path = file if file.exists() else path / "__init__.py"
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def _nodes(tree: ast.Module) -> list[ast.AST]:
    return list(ast.walk(tree))


def _called(node: ast.AST) -> str | None:
    """Return the function of `re` that a node calls."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    of = node.func.value
    return node.func.attr if isinstance(of, ast.Name) and of.id == "re" and node.func.attr in _FUNCTIONS else None


def _strangers(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield other ways to patterns than this census sees."""
    for node in _nodes(tree):
        if isinstance(node, ast.Attribute) and _is(node.value, "re") and node.attr not in _FUNCTIONS | _OTHERS:
            yield f"{name}:{node.lineno}: re.{node.attr} is not known to the census"
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if (_ENGINES & set(names) and name != _AUTOMATON) or (isinstance(node, ast.ImportFrom) and node.module == "re"):
            yield f"{name}:{node.lineno}: imports {names}: expected `import re`"
        if isinstance(node, ast.Import):
            yield from (f"{name}:{node.lineno}: re as {a.asname}" for a in node.names if a.name == "re" and a.asname)


def _tops(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements outside functions, innermost last."""
    classes = [node for node in _nodes(tree) if isinstance(node, ast.ClassDef)]
    return [*tree.body, *(statement for of in classes for statement in of.body)]


def _functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions, outermost first."""
    return [node for node in _nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def _evaluated(call: ast.Call, function: ast.AST, namespace: Mapping[str, Any]) -> re.Pattern[Any] | None:
    """Return the pattern of a call that reads only names of its module."""
    local = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    local |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    flags = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    at = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2, "split": 3}
    flags += call.args[at.get(_called(call) or "", 4) :]
    read = {node.id for part in (call.args[0], *flags) for node in ast.walk(part) if isinstance(node, ast.Name)}
    if read & local:
        return None
    parts = (compile(ast.Expression(part), "pattern", "eval") for part in (call.args[0], *flags))
    pattern, *given = (eval(part, dict(namespace)) for part in parts)
    return re.compile(pattern, *given)


def _assigned(name: str, top: ast.stmt, namespace: Mapping[str, Any], trees: Mapping[str, ast.Module]) -> list[Found]:
    """Return the patterns within what a statement at the top of a module assigns."""
    targets = top.targets if isinstance(top, ast.Assign) else [top.target] if isinstance(top, ast.AnnAssign) else []
    names = [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    found = []
    for each in names:
        method = _method(_uses(name, each, trees))
        found += [Found(f"{name}:{each}", pattern, method) for pattern in patterns(namespace.get(each))]
    return found


def patterns(value: Any, depth: int = 5) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns within a value: itself, what it contains, its attributes."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and not isinstance(value, str | bytes):
        within: list[Any] = []
        if isinstance(value, Mapping):
            within = [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            within = list(value)
        elif hasattr(value, "__dict__") and not isinstance(value, type):
            within = list(vars(value).values())
        for each in within:
            yield from patterns(each, depth - 1)


def _uses(module: str, name: str, trees: Mapping[str, ast.Module]) -> set[str]:
    """Return the methods by which a name of a module is used anywhere; "" for every other use."""
    uses: set[str] = set()
    for other, tree in trees.items():
        if other != module and not any(
            isinstance(node, ast.ImportFrom) and node.module == module and name in {alias.name for alias in node.names}
            for node in tree.body
        ):
            continue
        loops = [node for node in _nodes(tree) if isinstance(node, ast.For | ast.comprehension)]
        each = {
            loop.target.id: loop.iter for loop in loops if _is(loop.iter, name) and isinstance(loop.target, ast.Name)
        }
        known = {id(of) for of in each.values()}
        for node in _nodes(tree):
            if isinstance(node, ast.Attribute) and any(_is(node.value, used) for used in (name, *each)):
                uses.add(node.attr)
                known.add(id(node.value))
        loads = (node for node in _nodes(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        uses |= {"" for node in loads if node.id == name and id(node) not in known}
    return uses


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _method(uses: set[str]) -> str:
    return "finditer" if not uses or not uses <= _ANCHORED else "match" if "match" in uses else "fullmatch"
