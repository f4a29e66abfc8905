import pytest

from tasks.engine.data_files import fill


def test_parts_are_filled_in_and_lines_joined() -> None:
    parts = {"DAY": r"\d+ <MONTH>", "MONTH": "(?:may\n    |june)"}
    assert fill("on <DAY>\n    |in <MONTH>(?<a>)", parts) == r"on \d+ (?:may|june)|in (?:may|june)(?<a>)"


def test_a_part_without_a_name_is_an_error() -> None:
    with pytest.raises(KeyError, match="DAYS"):
        fill("<DAYS>", {"DAY": "x"})
