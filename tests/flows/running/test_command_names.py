"""Short forms of options."""

import pytest

from flows.running.commands import _whole_names


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (["summarize", "--writer", "local", "notes.md"], ["summarize", "--writer.folder", "local", "notes.md"]),
        (["summarize", "--writer=a.gguf"], ["summarize", "--writer.folder=a.gguf"]),
        (["summarize", "--writer.url=http://h/v1", "-"], ["summarize", "--writer.url=http://h/v1", "-"]),
        (["summarize", "--writer", "--words=40"], ["summarize", "--writer", "--words=40"]),
        (["build", "--writer", '{"folder": "local"}'], ["build", "--writer", '{"folder": "local"}']),
        (["summarize", "--writer"], ["summarize", "--writer"]),
    ],
)
def test_the_writer_may_be_named_alone(written: list[str], meant: list[str]) -> None:
    assert list(_whole_names(written)) == meant
