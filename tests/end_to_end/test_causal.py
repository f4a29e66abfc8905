"""A language model of a folder: trained on the mini web, judged as it is and with adapters, asked and served."""

import json
import shutil
import socket
from pathlib import Path

import httpx
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
import torch

from tasks.engine.shard import Scratch
from tasks.summarization.directory import load_summarizer
from tasks.writing.prompts import passage_json, write_messages
from tasks.writing.settings import BuildWriterSettings
from tasks.writing.stage import write_summaries
from tests.end_to_end.served_model import served
from tests.end_to_end.test_pretrained import call, worked
from tests.models.causal_folders import END, write_causal
from tests.patience import PATIENCE
from tests.tasks.writing.scripted import IS, LAMP, PASSAGES
from tests.tasks.writing.test_stage import articles, ranked, tally

transformers = pytest.importorskip("transformers", reason="needs the extra `backbones`")
pytest.importorskip("peft", reason="needs the extra `backbones`")
pytestmark = [pytest.mark.integration, pytest.mark.slow]

SMALL = [
    *("--source.miniweb.topics=40", "--shards.articles=2", "--shards.hosts=2", "--engine.kind=threads"),
    *("--ranking.method=similarity", "--baselines.systems=lead,concepts", "--decoding.max-length=40"),
    *(
        "--summarizer.preset=llama",
        "--summarizer.no-copying",
        "--summarizer.graph=none",
        "--summarizer.max-paragraphs=4",
    ),
    *("--summarizer.max-paragraph-tokens=60", "--summarizer.max-target-tokens=100", "--training.batch-tokens=6000"),
    *(
        "--training.processes=1",
        "--training.accumulation=1",
        "--training.torch-threads=1",
        "--training.decoded-articles=0",
    ),
    *("--training.validation-interval=20", "--decoding.verify=0"),
]
STEPS = "--training.steps="


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def rows(root: Path, system: str = "llama") -> list[dict[str, object]]:
    files = sorted((root / "predictions").glob("*.parquet"), key=lambda file: file.stat().st_mtime)
    return [row for file in files[-2:] for row in pq.read_table(file).to_pylist() if row["system"] == system]


def test_a_model_is_trained_judged_asked_and_served(tmp_path: Path) -> None:
    root, fresh, learned = tmp_path / "data", tmp_path / "fresh", tmp_path / "learned"
    worked(call(tmp_path, "flows.build_corpus", "--root", root, *SMALL[:4]))
    leads = [row["lead"] for file in (root / "articles").glob("*.parquet") for row in pq.read_table(file).to_pylist()]
    model = write_causal(
        fresh, texts=[lead for lead in leads if lead], pieces=600, hidden_size=32, initializer_range=0.05
    )
    build = ("flows.build_wikisum", "--root", root, *SMALL)

    # All weights are trained, and written as the folder that others load.
    whole = [
        f"--summarizer.pretrained={fresh}",
        '--summarizer.overrides={"lora_rank": 0}',
        "--training.learning-rate=0.01",
    ]
    assert "llama" in worked(call(tmp_path, *build, *whole, f"{STEPS}60"))
    (directory,) = [path for path in (root / "models" / "summarizer").iterdir() if path.is_dir()]
    trained = load_summarizer(directory).model
    state = trained.state_dict()
    model.load_state_dict(state, strict=False)
    shutil.copytree(fresh, learned, ignore=shutil.ignore_patterns("*.safetensors*"))
    model.save_pretrained(learned)

    # As it is, and with adapters: rows of the build's table.
    tuned = (f"--summarizer.pretrained={learned}", "--training.learning-rate=0.01")
    table = worked(call(tmp_path, *build, *tuned, f"{STEPS}0"))
    assert "llama" in table
    assert "concepts" in table
    as_it_is = rows(root)
    assert as_it_is
    assert all(row["summary"] for row in as_it_is)
    assert "llama" in worked(call(tmp_path, *build, *tuned, f"{STEPS}20", '--summarizer.overrides={"lora_rank": 4}'))
    assert [row["summary"] for row in rows(root)] != [row["summary"] for row in as_it_is]
    records = [json.loads(file.read_text()) for file in (root / "models" / "summarizer").glob("*.json")]
    assert sorted(record["metrics"]["steps"] for record in records) == [0, 20, 60]

    # Asked for a summary of a file, it or the extractive system answers with citations.
    note = tmp_path / "note.txt"
    note.write_text(f"{leads[0]}\n\n{leads[0]} It is known for this.\n")
    said = worked(call(tmp_path, "flows.summarize", "--title", "A topic", "--model", learned, note))
    assert "[1]" in said
    refused = call(tmp_path, "flows.summarize", "--title", "A topic", "--model", fresh / "none", note)
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


def test_a_served_model_writes_what_the_writer_shows(tmp_path: Path) -> None:
    """It has learned one answer by heart, in the writer's form, and is asked over HTTP."""
    folder, passages = tmp_path / "model", [passage_json(rank, text) for rank, text in enumerate(PASSAGES)]
    said = json.dumps({"sentences": [{"text": IS, "passages": [1]}, {"text": LAMP, "passages": [2]}]})
    asked = [write_messages(title, passages, 20, "en") for title in articles(2)["title"].to_pylist()[:2]]
    texts = [said, *(message["content"] for messages in asked for message in messages)]
    shape = {"hidden_size": 32, "max_position_embeddings": 8192, "initializer_range": 0.05}
    model = write_causal(folder, texts=texts * 3, pieces=900, **shape)
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    whole = [
        tokenizer.apply_chat_template([*messages, {"role": "assistant", "content": said}], tokenize=False)
        for messages in asked
    ]
    ids = torch.tensor([tokenizer.encode(text) for text in whole])
    learned = ids.clone()
    learned[:, : -len(tokenizer.encode(f"{said}{END}")) - 1] = -100
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(120):
        model.zero_grad()
        loss = model(ids, labels=learned).loss
        loss.backward()
        optimizer.step()
    model.save_pretrained(folder, max_shard_size="8KB")
    with served(folder, free_port()) as url:
        settings = BuildWriterSettings(url=url, model=str(folder), context=8192, words=20)
        scratch = Scratch(pafs.LocalFileSystem(), str(tmp_path / "answers"))
        found = write_summaries(articles(2), ranked(2), settings, parts=1, scratch=scratch, at_once=2)
    assert found["summary"].to_pylist() == [f"{IS}\n{LAMP}"] * 2
    assert tally(found)["requests"] == 2
