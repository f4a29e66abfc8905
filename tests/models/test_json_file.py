"""A JSON file that must hold an object: what else it may hold is one clear line."""

from pathlib import Path

import pytest

from models.json_file import read_object


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[" * 100_000, r"file\.json: expected JSON, but it is nested too deeply"),
        ('{"a": ' * 100_000, r"file\.json: expected JSON, but it is nested too deeply"),
        ("{", r"file\.json: expected JSON, but Expecting property name"),
        ("[1]", r"file\.json: expected a JSON object, got '\[1\]'"),
    ],
)
def test_what_is_no_object_is_named(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(ValueError, match=f"{fault}[^\n]*$"):
        read_object(tmp_path / "file.json")


def test_an_object_is_read(tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text('{"a": [1, {"b": null}]}')
    assert read_object(tmp_path / "file.json") == {"a": [1, {"b": None}]}
