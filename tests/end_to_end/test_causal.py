"""A language model of a folder: trained on the mini web, judged as it is and with adapters, asked and served."""

import json
import shutil
import socket
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
import torch
from lxml import html
from playwright.sync_api import Browser, expect

from benchmarks.page_server import page_server
from storage.builds import latest_build
from storage.schemas import RANKED
from storage.store import Store
from tasks.cited_summary.settings import SummarySettings
from tasks.engine.job import Scratch
from tasks.summarization.directory import load_summarizer
from tasks.writing.messages import passage_json, write_messages
from tasks.writing.settings import BuildWriterSettings, WriterSettings
from tasks.writing.stage import write_summaries
from tests.end_to_end.served_model import served
from tests.end_to_end.test_pretrained import call, worked
from tests.flows.test_writer import first_sentence
from tests.models.causal_folders import END, write_causal
from tests.patience import PATIENCE
from tests.tasks.chat.chat_server import chat_server, said
from tests.tasks.cited_summary.topic import HISTORY, TITLE
from tests.tasks.writing.scripted import IS, LAMP, PASSAGES
from tests.tasks.writing.test_injections import INJECTIONS
from tests.tasks.writing.test_stage import articles, ranked, tally

transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")
pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("peft") is None, reason="needs the extra `backbones`"),
]

SMALL = [
    *("--source.miniweb.topics=40", "--shards.articles=2", "--shards.hosts=2", "--engine.kind=threads"),
    *("--ranking.method=similarity", "--baselines.systems=lead,concepts", "--decoding.max-length=40"),
    *("--summarizer.max-paragraphs=4", "--summarizer.max-paragraph-tokens=60", "--summarizer.max-target-tokens=100"),
    *("--training.batch-tokens=6000", "--training.processes=1", "--training.accumulation=1"),
    *("--training.torch-threads=1", "--training.decoded-articles=0", "--training.validation-interval=20"),
    "--training.learning-rate=0.01",
]
CAUSAL = {"preset": "llama", "graph": "none", "copying": False}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def truth(page: Path) -> dict[str, dict[str, str]]:
    """Return system -> column -> figure of the tables of a report that say whether summaries are true."""
    found: dict[str, dict[str, str]] = {}
    for table in html.parse(page).xpath("//table"):
        (head, *lines) = [[cell.text_content() for cell in row.xpath("./*")] for row in table.xpath(".//tr")]
        if {"sentences true", "citation recall", "values right"} & set(head):
            for system, *cells in lines:
                found.setdefault(system, {}).update(zip(head[1:], cells, strict=True))
    return found


def test_a_model_is_trained_judged_beside_others_and_asked(tmp_path: Path) -> None:
    root, fresh, learned = tmp_path / "data", tmp_path / "fresh", tmp_path / "learned"
    worked(call(tmp_path, "flows", "corpus", "--root", root, *SMALL[:4]))
    leads = [row["lead"] for file in (root / "articles").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    model = write_causal(
        fresh, texts=[lead for lead in leads if lead], pieces=600, hidden_size=32, initializer_range=0.05
    )

    # All weights are trained, and written as the folder that others load.
    whole = ["--summarizer.preset=llama", "--summarizer.graph=none", "--summarizer.no-copying"]
    whole += [f"--summarizer.pretrained={fresh}", '--summarizer.overrides={"lora_rank": 0}', "--training.steps=60"]
    worked(call(tmp_path, "flows", "train", "summarizer", "--root", root, *SMALL, *whole))
    (directory,) = [path for path in (root / "models" / "summarizer").iterdir() if path.is_dir()]
    model.load_state_dict(load_summarizer(directory).model.state_dict(), strict=False)
    shutil.copytree(fresh, learned, ignore=shutil.ignore_patterns("*.safetensors*"))
    model.save_pretrained(learned)

    # As it is and with adapters, beside a model of our own, an extractive one, and one behind a server: one table.
    causal = {**CAUSAL, "pretrained": str(learned)}
    further = {
        "as-it-is": {"summarizer": causal, "training": {"steps": 0}},
        "adapters": {"summarizer": {**causal, "overrides": {"lora_rank": 4}}, "training": {"steps": 20}},
    }
    with chat_server(first_sentence) as chat:
        beside = [f"--further={json.dumps(further)}", f"--writer.url={chat.url}", "--writer.model=asked"]
        worked(call(tmp_path, "flows", "build", "--root", root, *SMALL, "--training.steps=40", *beside))
    build = latest_build(Store(str(root)))
    assert build is not None and build.report is not None
    found = truth(root / build.report / "report.html")
    assert found.keys() == {"ht-small-2+similarity", "lead", "concepts", "as-it-is", "adapters", "asked"}
    for system, figures in found.items():
        for column in ("citation recall", "citation precision", "sentences true", "facts recalled"):
            assert 0 <= float(figures[column][: figures[column].index(".") + 3]) <= 100, (system, column)
    assert found["asked"]["citation recall"].startswith("100.00")  # it left its lies out
    summaries = {
        name: [pq.read_table(root / file)["summary"].to_pylist() for file in files.values()]
        for name in further
        for files in [build.stages[f"predictions-{name}"]]
    }
    assert all(any(texts) for texts in summaries["as-it-is"])
    assert summaries["as-it-is"] != summaries["adapters"]
    size = {path.name: path.stat().st_size for path in (root / build.models["models/summarizer-adapters"]).iterdir()}
    assert max(size.values()) < sum(file.stat().st_size for file in learned.glob("*.safetensors"))

    # Asked for a summary of a file, it or the extractive system answers with citations.
    note = tmp_path / "note.txt"
    note.write_text(f"{leads[0]}\n\n{leads[0]} It is known for this.\n")
    assert "[1]" in worked(call(tmp_path, "flows", "summarize", "--title", "A topic", "--model", learned, note))
    refused = call(tmp_path, "flows", "summarize", "--title", "A topic", "--model", fresh / "none", note)
    assert refused.returncode != 0

    # The library's server loads the folder and answers in its words.
    with served(learned, free_port()) as url:
        body = {
            "model": str(learned),
            "messages": [{"role": "user", "content": f"Topic: a river\n{leads[0]}"}],
            "temperature": 0,
            "max_tokens": 20,
        }
        answer = httpx.post(f"{url}/chat/completions", json=body, timeout=PATIENCE, trust_env=False).json()
    assert answer["choices"][0]["message"]["role"] == "assistant"
    assert answer["usage"]["completion_tokens"] > 0


def learn_by_heart(folder: Path, asked: Sequence[Sequence[Mapping[str, str]]], answer: str) -> None:
    """Write a folder with a tiny model that gives this answer to each of some requests."""
    texts = [answer, *(message["content"] for messages in asked for message in messages)]
    shape = {"hidden_size": 32, "max_position_embeddings": 8192, "initializer_range": 0.05}
    model = write_causal(folder, texts=texts * 3, pieces=900, **shape)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    whole = [
        tokenizer.apply_chat_template([*messages, {"role": "assistant", "content": answer}], tokenize=False)
        for messages in asked
    ]
    ids = torch.tensor([tokenizer.encode(text) for text in whole])
    learned = ids.clone()
    learned[:, : -len(tokenizer.encode(f"{answer}{END}")) - 1] = -100
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(120):
        model.zero_grad()
        loss = model(ids, labels=learned).loss
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder, max_shard_size="8KB")


def test_a_served_model_writes_what_the_writer_shows(tmp_path: Path) -> None:
    """It has learned one answer by heart, in the writer's form, and is asked over HTTP."""
    folder, passages = tmp_path / "model", [passage_json(rank, text) for rank, text in enumerate(PASSAGES)]
    titles = articles(2)["title"].to_pylist()[:2]
    answer = json.dumps({"sentences": [{"text": IS, "passages": [1]}, {"text": LAMP, "passages": [2]}]})
    learn_by_heart(folder, [write_messages(title, passages, 20, "en") for title in titles], answer)
    with served(folder, free_port()) as url:
        settings = BuildWriterSettings(url=url, model=str(folder), context=8192, words=20)
        scratch = Scratch(pafs.LocalFileSystem(), str(tmp_path / "answers"))
        asking = {"parts": 1, "scratch": scratch, "at_once": 2}
        found = write_summaries(articles(2), ranked(2), settings, **asking)
        injected = pa.Table.from_pylist(
            [{"article_id": f"{n:03}", "rank": len(PASSAGES), "text": text} for n, text in enumerate(INJECTIONS)],
            RANKED.schema,
        )
        count = len(INJECTIONS)
        beside = write_summaries(articles(count), pa.concat_tables([ranked(count), injected]), settings, **asking)
    assert found["summary"].to_pylist() == [f"{IS}\n{LAMP}"] * 2
    assert tally(found)["requests"] == 2
    # Whatever a passage asks of it, nothing is shown but what it has learned to say and a passage says.
    assert beside.num_rows == count
    assert {line for text in beside["summary"].to_pylist() for line in text.splitlines()} <= {IS, LAMP}
    assert tally(beside)["requests"] >= count


def test_page_and_terminal_show_what_a_served_model_writes(browser: Browser, tmp_path: Path) -> None:
    """It is asked what a scripted server was asked before, which it has learned to answer."""
    folder, note, page = tmp_path / "model", tmp_path / "history.txt", browser.new_page()
    note.write_text(HISTORY)
    told = ["The lighthouse at Skerry Point was built in 1847 by Thomas Ridley.", LAMP]
    answer = json.dumps({"sentences": [{"text": text, "passages": [1]} for text in told]})  # one citation is wrong

    def shown(url: str) -> list[str]:
        writer = WriterSettings(url=url, model=str(folder), context=8192)
        with page_server(settings=SummarySettings(writer=writer, words=40)) as address:
            page.goto(address)
            page.get_by_label("Title").fill(TITLE)
            page.get_by_label("Files", exact=True).set_input_files(note)
            page.get_by_role("button", name="Summarize").click()
            sentences = page.locator("ol.sentences li")
            expect(sentences).to_have_count(2, timeout=1000 * PATIENCE)
            passages = [sentences.nth(place).locator("a.cite").first.get_attribute("href") for place in (0, 1)]
            assert len(set(passages)) == 2
            for passage, year in zip(passages, ("1847", "1871"), strict=True):
                expect(page.locator(passage or "")).to_contain_text(year)
            return sentences.locator(".text").all_inner_texts()

    with chat_server(lambda number, body: (200, said(answer))) as chat:
        assert shown(chat.url) == told
    ((_, _, body),) = chat.asked
    learn_by_heart(folder, [body["messages"]], answer)
    with served(folder, free_port()) as url:
        assert shown(url) == told
        asked = [f"--writer.url={url}", f"--writer.model={folder}", "--writer.context=8192", "--words=40"]
        printed = worked(call(tmp_path, "flows", "summarize", f"--title={TITLE}", *asked, note))
    assert all(text in " ".join(printed.split()) for text in told)
    assert "whole sentences of the sources are chosen" not in printed
