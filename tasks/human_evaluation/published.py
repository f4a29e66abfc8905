"""The papers' results with human raters, shown beside a study's own."""

from tasks.human_evaluation.settings import Task
from tasks.reporting.blocks import Block, Cell, Table, Text

_TABLES: dict[Task, tuple[str, tuple[str, ...], tuple[tuple[str, ...], ...]]] = {
    "qa": (
        "Liu & Lapata 2019, Table 4, questions, %; 20 articles, 57 questions",
        ("system", "QA"),
        (("Lead", "31.59"), ("FT", "35.69"), ("T-DMCA", "43.14"), ("HT", "54.11")),
    ),
    "best-worst": (
        "Liu & Lapata 2019, Table 4, best-worst rating; 20 articles",
        ("system", "rating"),
        (("Lead", "-0.383"), ("FT", "0.000"), ("T-DMCA", "0.147"), ("HT", "0.237")),
    ),
    "ratings": (
        "Ma & Zong 2022, Table 3; 20 articles, 15 raters. Its consistency has other levels than ours",
        ("system", "informativeness", "fluency", "conciseness", "factual consistency"),
        (
            ("T-DMCA", "3.69", "3.66", "3.82", "3.04"),
            ("Transformer-XL", "3.57", "3.71", "3.77", "2.88"),
            ("HT", "3.34", "3.76", "3.75", "2.82"),
            ("PHT", "4.11", "3.97", "3.81", "3.11"),
            ("PHT + attAlign", "4.39", "4.22", "3.95", "3.35"),
        ),
    ),
}


def published(task: Task) -> list[Block]:
    """Return the published figures of a task and their source."""
    source, columns, rows = _TABLES[task]
    numeric = frozenset(range(1, len(columns)))
    return [Text(source), Table("Published", columns, [list(map(Cell, row)) for row in rows], numeric)]
