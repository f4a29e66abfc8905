"""The rooms of the house: imports run one way, and a GPU box needs only what models and storage import."""

import ast
import functools
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from storage.inventory import take_stock
from storage.store import Store

PROJECT = Path(__file__).parents[1]
ROOMS = {
    "storage": {"storage"},
    "models": {"models"},
    "tasks": {"tasks", "models", "storage"},
    "flows": {"flows", "tasks", "models", "storage"},
}
# The rooms of tasks/, lowest first: each may import those before it, so that no two import each other.
ORDER = (
    *("engine", "text", "verification", "extractive", "rights", "near_duplicates"),
    *("fetching", "archives", "crawl", "chat", "extraction", "paragraphs", "sources", "search", "articles"),
    *("ranking", "evaluation", "writing", "summarization", "pretraining"),
    *("reporting", "tables", "exchange", "retraining", "human_evaluation", "cited_summary", "explorer"),
)
LEAN = {"torch", "numpy", "pyarrow", "sentencepiece", "safetensors", "tokenizers"}
OPTIONAL = {"transformers", "sentencex"}  # imported only inside what needs it


def modules(room: str) -> list[Path]:
    return sorted((PROJECT / room).rglob("*.py"))


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of every import, but for optional packages inside functions."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.col_offset and (node.module or "").partition(".")[0] in OPTIONAL:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.lineno, (node.module or "").partition(".")[0]


@pytest.mark.parametrize("room", [*ROOMS, "benchmarks"])
def test_imports_run_one_way(room: str) -> None:
    allowed = ROOMS.get(room, {*ROOMS, room})
    wrong = [
        f"{path.relative_to(PROJECT)}:{line} imports {name}"
        for path in modules(room)
        for line, name in imported(path)
        if name in {*ROOMS, "benchmarks", "tests"} - allowed
    ]
    assert wrong == []


def upward(within: Iterable[ast.AST], room: str) -> list[tuple[int, str]]:
    """Return line and name of each room of tasks/ that a module of `room` imports and may not."""
    found = []
    for node in within:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        rooms = {name.split(".")[1] for name in names if name.startswith("tasks.")}
        found += [(node.lineno, name) for name in sorted(rooms) if ORDER.index(name) > ORDER.index(room)]
    return found


def test_every_room_of_tasks_has_its_place() -> None:
    folders = {path.parent.name for path in (PROJECT / "tasks").glob("*/__init__.py")}
    assert sorted(ORDER) == sorted(folders | {"verification"})


@pytest.mark.parametrize("room", ORDER)
def test_no_room_of_tasks_imports_upward(room: str) -> None:
    wrong = [
        f"{path.relative_to(PROJECT)}:{line} imports tasks.{name}"
        for path in modules(f"tasks/{room}")
        for line, name in upward(nodes(path), room)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "planted",
    [
        "import tasks.fetching.urls",
        "from tasks import fetching",
        "from tasks.fetching import urls",
        "from tasks.fetching.urls import host_of",
        "def f():\n    from tasks.fetching.urls import host_of",
        "if TYPE_CHECKING:\n    from tasks.fetching.urls import host_of",
    ],
)
def test_an_upward_import_is_seen_wherever_it_stands(planted: str) -> None:
    within = list(ast.walk(ast.parse(planted)))
    assert upward(within, "rights") == [(planted.count("\n") + 1, "fetching")]
    assert upward(within, "fetching") == upward(within, "search") == []


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")


def imported_modules(within: Iterable[ast.AST], known: Iterable[str]) -> set[str]:
    """Return the modules among those known that are imported, also inside functions."""
    names = set()
    for node in within:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names & set(known)


def cycle(imports: Mapping[str, Iterable[str]]) -> list[str] | None:
    """Return modules of which each imports the next and the last the first; None if there are none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return None


def test_no_files_import_each_other() -> None:
    """Not in a round of several files either, and not inside functions."""
    files = {module_of(path): path for room in ROOMS for path in modules(room)}
    assert cycle({name: imported_modules(nodes(path), files) - {name} for name, path in files.items()}) is None


def test_a_round_of_imports_is_seen() -> None:
    lines = {"a": "import b", "b": "def f():\n    from c import g", "c": "import a", "d": "import a"}
    imports = {name: imported_modules(ast.walk(ast.parse(line)), lines) for name, line in lines.items()}
    found = cycle(imports)
    assert found is not None
    assert (sorted(set(found)), found[0]) == (["a", "b", "c"], found[-1])
    assert cycle({**imports, "c": ()}) is None


def test_a_class_has_a_name_of_its_own() -> None:
    """So that a reader knows which is meant; classes that only their file uses may share a name."""
    files = [path for room in ROOMS for path in modules(room)]
    found = [(node.name, path.name) for path in files for node in nodes(path) if isinstance(node, ast.ClassDef)]
    counts = Counter(name for name, _ in found if not name.startswith("_"))
    assert [(name, file) for name, file in found if counts[name] > 1] == []


def test_one_module_of_tasks_knows_prefect() -> None:
    knowing = {path for path in modules("tasks") for _, name in imported(path) if name == "prefect"}
    assert knowing == {PROJECT / "tasks/reporting/publishing.py"}


@pytest.mark.parametrize(("room", "more"), [("models", set()), ("storage", {"botocore"})])
def test_models_and_storage_need_few_packages(room: str, more: set[str]) -> None:
    allowed = LEAN | more | {room} | set(sys.stdlib_module_names)
    wrong = [
        f"{path.relative_to(PROJECT)}:{line} imports {name}"
        for path in modules(room)
        for line, name in imported(path)
        if name not in allowed
    ]
    assert wrong == []


def test_flows_are_short() -> None:
    """A flow reads like the pipeline's figure; what is longer belongs into tasks, or into how a flow runs."""
    wiring = [path for path in modules("flows") if path.parent.name != "running" and path.name != "config.py"]
    lengths = {path.name: len(path.read_text().splitlines()) for path in wiring}
    assert {name: lines for name, lines in lengths.items() if lines > 200} == {}


def test_nothing_pickled_comes_from_outside() -> None:
    """`torch.load` only with weights_only=True, and no `pickle.load` anywhere."""
    wrong = []
    for room in ROOMS:
        for path in modules(room):
            for node in nodes(path):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                call = ast.unparse(node.func)
                if call in {"pickle.load", "pickle.loads"} or (
                    call == "torch.load"
                    and not any(k.arg == "weights_only" and ast.unparse(k.value) == "True" for k in node.keywords)
                ):
                    wrong.append(f"{path.relative_to(PROJECT)}:{node.lineno} calls {call}")
    assert wrong == []


# What takes long to import, with all that it brings along.
HEAVY = {"torch", "prefect", "spacy", "scipy", "sklearn", "trafilatura", "matplotlib", "pyarrow", "nltk"}
RUN = "import sys; sys.argv[1:] = {}; import flows.__main__; from flows.running import commands; commands.main()"
BUILDS = ["build", "corpus", "train", "evaluate", "retrain", "tables", "pretrain"]
OTHERS = ["export", "promote", "prune", "verify", "republish", "judge", "summarize", "serve"]


@pytest.mark.integration
@pytest.mark.parametrize(
    "calls",
    [
        [[name, "--help"] for name in (*BUILDS, *OTHERS)],
        [["build", "--help", "training"], ["build", "--help", "all"]],
        [["build", "--no-such-option"], ["build", "--seed", "none"]],
    ],
    ids=["help", "help of sections", "mistakes"],
)
def test_settings_and_help_load_nothing_heavy(calls: list[list[str]]) -> None:
    """One after the other in one process, which what any of them loads would stay in."""
    tried = [f"try: {RUN.format(words)}\nexcept SystemExit as end: ends.append(end.code)" for words in calls]
    assert heavy_after("\n".join(["", "ends = []", *tried, f"assert len(ends) == {len(calls)}"])) == set()


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        ["build"],
        ["retrain"],
        ["tables"],
        ["pretrain", "--summarizer.preset=bart-small", "--summarizer.graph=none", "--vocabulary.model-type=byte-bpe"],
        ["prune"],
    ],
)
def test_a_plan_loads_what_walks_the_stages_and_not_what_makes_them(words: list[str], tmp_path: Path) -> None:
    take_stock(Store(str(tmp_path)))  # without which it is no root to prune
    plan = RUN.format([*words, "--dry-run", "--root", str(tmp_path)])
    assert heavy_after(plan) == {"prefect", "pyarrow"}


def heavy_after(code: str) -> set[str]:
    told = f"import atexit, sys; atexit.register(lambda: print('loaded:', *({HEAVY} & set(sys.modules)))); {code}"
    done = subprocess.run([sys.executable, "-c", told], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    marker, *loaded = done.stdout.splitlines()[-1].split()
    assert marker == "loaded:"
    return set(loaded)
