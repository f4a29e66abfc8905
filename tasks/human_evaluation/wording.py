"""What raters are asked, and the papers' results with human raters (`wording.toml`)."""

from collections.abc import Mapping

from tasks.engine.data_files import read_data
from tasks.human_evaluation.settings import Criterion, Task
from tasks.reporting.blocks import Block, Cell, Table, Text

_WORDS = read_data("tasks.human_evaluation", "wording.toml")
INSTRUCTIONS: Mapping[Task, str] = _WORDS["instructions"]
COMPARED: str = _WORDS["compared"]
CRITERIA: Mapping[Criterion, tuple[str, str]] = {
    key: (name, asked) for key, (name, asked) in _WORDS["criteria"].items()
}
ON_SOURCES: frozenset[Criterion] = frozenset(_WORDS["on_sources"])
LEVELS: Mapping[int, str] = dict(enumerate(_WORDS["levels"], start=1))


def published(task: Task) -> list[Block]:
    """Return the published figures of a task and their source."""
    table = _WORDS["published"][task]
    rows = [list(map(Cell, row)) for row in table["rows"]]
    return [
        Text(table["source"]),
        Table("Published", table["columns"], rows, frozenset(range(1, len(table["columns"])))),
    ]
