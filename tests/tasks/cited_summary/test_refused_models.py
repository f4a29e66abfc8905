"""Models that are named wrongly, and a language model beside a choice that would leave it out."""

from pathlib import Path

import pytest

from flows.summary_page.server import kept_below
from flows.summary_page.terminal import summarize
from storage.errors import StorageError
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import find_system, trained_systems
from tasks.writing.settings import WriterSettings


def test_a_gguf_file_that_is_missing_or_holds_something_else_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="needs the extra `local`")
    file = tmp_path / "small.GGUF"
    with pytest.raises(StorageError, match=r"--model .*small.GGUF: .*expected a GGUF file, there is none"):
        find_system(str(file))
    file.write_bytes(b"PK\x03\x04")
    with pytest.raises(StorageError, match="expected a GGUF file, which begins with GGUF"):
        find_system(str(file))


def test_a_gguf_file_writes_under_its_own_name(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="needs the extra `local`")
    file = tmp_path / "Small-360M.Q4.gguf"
    file.write_bytes(b"GGUF")
    system = find_system(str(file))
    assert (system.name, system.summarizer) == ("Small-360M.Q4", None)
    assert system.writer == WriterSettings(folder=str(file))
    assert trained_systems(str(file)) == []
    assert kept_below(str(file), None) == "data"


def test_a_trained_model_and_a_language_model_are_not_asked_for_together(tmp_path: Path) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("The mill was built in 1874.")
    settings = SummarySettings(writer=WriterSettings(url="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(ValueError, match="--system model is the trained model of --model, and m is the"):
        summarize("Mill", "", [str(source)], None, "model", settings, "txt", None)
