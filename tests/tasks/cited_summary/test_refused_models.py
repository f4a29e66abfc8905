"""Models that are named wrongly, and a language model beside a choice that would leave it out."""

from pathlib import Path

import pytest

from flows.summary_page.terminal import summarize
from storage.errors import StorageError
from tasks.cited_summary.settings import SummarySettings
from tasks.cited_summary.systems import find_system
from tasks.writing.settings import WriterSettings


def test_a_gguf_file_is_refused_with_the_way_to_serve_it(tmp_path: Path) -> None:
    file = tmp_path / "small.GGUF"
    file.write_bytes(b"GGUF")
    with pytest.raises(StorageError, match=r"small.GGUF' is a GGUF file: expected a folder; serve it by `llama-server"):
        find_system(str(file))


def test_a_trained_model_and_a_language_model_are_not_asked_for_together(tmp_path: Path) -> None:
    source = tmp_path / "notes.txt"
    source.write_text("The mill was built in 1874.")
    settings = SummarySettings(writer=WriterSettings(url="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(ValueError, match=r"--system model is the trained model of --model, and writer.url is 'http"):
        summarize("Mill", [str(source)], None, "model", settings, "txt", None)
