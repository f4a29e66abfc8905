"""Every figure that stands as published is in the paper that it is said to be from."""

import re
from pathlib import Path

import pytest

from tasks.tables.published import PUBLISHED, Measure, PublishedTable

FILES = {name: f"{name}_*.txt" for name in ("000", "001", "002", "003", "004")}


@pytest.fixture(scope="module")
def papers(shared_data: Path) -> dict[str, str]:
    """Paper -> its text; skipped, visibly, where the papers are not at hand."""
    found = {name: list((shared_data.parent / "papers").glob(pattern)) for name, pattern in FILES.items()}
    if not all(found.values()):
        pytest.skip("the papers are not at hand")
    return {name: files[0].read_text(encoding="utf-8") for name, files in found.items()}


def written(figure: float, table: PublishedTable, relative: bool) -> set[str]:
    """The ways in which a paper may print a figure."""
    if relative:
        return {f"{figure:+g}", f"{figure:+.1f}"} if figure else {"0"}
    ways = {f"{figure:g}", f"{figure:.1f}", f"{figure:.2f}"}
    return ways | {f"{100 * figure:.2f}%", f"{figure:.4f}"} if table.measure is Measure.ATTENTION else ways


@pytest.mark.shared_data
@pytest.mark.parametrize("table", PUBLISHED, ids=[table.name for table in PUBLISHED])
def test_every_figure_is_in_its_paper(table: PublishedTable, papers: dict[str, str]) -> None:
    numbers = set(re.findall(r"[-+]?\d+(?:\.\d+)?%?", papers[table.name[:3]]))
    for row in table.rows:
        for figure in row.figures:
            if figure is not None:
                assert written(figure, table, row.relative) & numbers, (table.name, row.label, figure)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["003-2", "003-11", "004-1", "004-2"])
def test_the_figures_of_a_row_are_those_of_one_line(name: str, papers: dict[str, str]) -> None:
    table = next(table for table in PUBLISHED if table.name == name)
    pattern = rf"\d+\.\d{{{table.digits}}}"
    lines = {tuple(re.findall(pattern, line)) for line in papers[name[:3]].splitlines()}
    for row in table.rows:
        if (name, row.system) != ("003-2", "longt5"):  # its line is lost
            assert tuple(f"{x:.{table.digits}f}" for x in row.figures if x is not None) in lines, row.label
