"""A checkpoint of one's own: pre-trained on one corpus and fine-tuned on another, from the command line."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks.tiny_runs import PROJECT
from tests.models.word_pieces import TINY, write_bert
from tests.patience import PATIENCE

pytestmark = pytest.mark.integration

NAMES = ("Aral", "Boreth", "Cyrine", "Dovra", "Elmin", "Farow", "Golun", "Hesk", "Imber", "Jolan", "Kesta", "Lorun")
SHAPE = json.dumps(
    {
        "model_size": 16,
        "feed_forward_size": 32,
        "heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "max_positions": 128,
        "source_tokens": 128,
    }
)
SMALL = [
    "--preset=records",
    # Its articles all say the same.
    "--across.near-duplicates=off",
    "--across.leakage=off",
    "--shards.articles=2",
    "--shards.hosts=1",
    "--vocabulary.pieces=400",
    "--summarizer.preset=hed-small",
    "--summarizer.no-copying",
    f"--summarizer.overrides={SHAPE}",
    "--summarizer.max-target-tokens=60",
    "--training.batch-tokens=1000",
    "--training.steps=6",
    "--training.validation-interval=3",
    "--training.torch-threads=1",
    "--ranking.method=similarity",
    "--decoding.max-length=30",
    "--engine.kind=threads",
]


def records(file: Path, first: int) -> Path:
    """Write articles of rivers: eight for training, two for each other split."""
    lines = []
    for number, name in enumerate(NAMES):
        split = "test" if number > 9 else "valid" if number > 7 else "train"
        length = first + 10 * number
        lead = f"The {name} is a river of {length} kilometres. It rises in the hills of {NAMES[number - 1]}."
        texts = [
            f"The river {name} is {length} kilometres long. It is known for its fish and its mills.",
            f"Many boats are seen on the {name} in summer. The hills of {NAMES[number - 1]} are near its spring.",
        ]
        document = {"url": f"http://rivers.test/{first}/{name}", "title": name, "text": "\n".join(texts)}
        lines.append({"title": f"{name} river", "lead": lead, "split": split, "documents": [document]})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def call(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_API_URL": "",
    }
    return subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        check=False,
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def worked(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done.stdout


@pytest.mark.slow
def test_a_hie_bart_is_built_on_marked_sentences_beside_a_bart(tmp_path: Path) -> None:
    mine = records(tmp_path / "mine.jsonl", 300)
    build = ("flows", "build", "--root", tmp_path / "data", f"--source.records.paths={mine}", *SMALL)
    few = ("--training.steps=3", "--training.validation-interval=3")
    worked(call(tmp_path, *build, *few, "--summarizer.preset=bart-small"))
    before = {path.name: path.read_bytes() for path in (tmp_path / "data" / "examples").iterdir()}
    assert "hie-bart-small" in worked(call(tmp_path, *build, *few, "--summarizer.preset=hie-bart-small"))
    folder = tmp_path / "data" / "examples"
    assert all((folder / name).read_bytes() == data for name, data in before.items())
    (words,) = (tmp_path / "data" / "vocabulary").glob("*.parquet")
    mark = pq.read_table(words)["pieces"][0].as_py()
    for file in folder.glob("*.parquet"):
        sources = pq.read_table(file)["source"].to_pylist()
        marks = [ids.count(mark) for paragraphs in sources for ids in paragraphs]
        assert set(marks) == ({0} if file.name in before else {2})  # each paragraph has two sentences
    summaries = [
        row
        for file in (tmp_path / "data" / "predictions").glob("*.parquet")
        for row in pq.read_table(file).to_pylist()
        if row["system"] == "hie-bart-small"
    ]
    assert len(summaries) == 2
    assert not any("[BOS]" in row["summary"] for row in summaries)


@pytest.mark.slow
def test_a_checkpoint_is_made_moved_tuned_and_judged(tmp_path: Path) -> None:
    other, mine = records(tmp_path / "other.jsonl", 100), records(tmp_path / "mine.jsonl", 300)
    said = worked(
        call(
            tmp_path,
            "flows",
            "pretrain",
            "--root",
            tmp_path / "pre",
            f"--source.records.paths={other}",
            *SMALL,
            "--vocabulary.model-type=byte-bpe",
            "--training.learning-rate=0.001",
        )
    )
    made = Path(said.split("--summarizer.pretrained ")[1].split()[0])
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in made.iterdir()}

    # Its path does not count, its content does.
    for place in ("here", "there"):
        shutil.copytree(made, tmp_path / place, ignore=shutil.ignore_patterns("checkpoints"))
    build = ("flows", "build", "--root", tmp_path / "tuned", f"--source.records.paths={mine}", *SMALL)
    table = worked(call(tmp_path, *build, f"--summarizer.pretrained={tmp_path / 'here'}"))
    assert "hed-small" in table
    again = worked(call(tmp_path, *build, f"--summarizer.pretrained={tmp_path / 'there'}"))
    assert again.splitlines()[:12] == table.splitlines()[:12]
    (model,) = (tmp_path / "tuned" / "models" / "summarizer").glob("*.json")
    described = json.loads(model.read_text())
    assert described["settings"]["training"]["learning_rate"] == 5e-5  # of Shen et al. 2023
    assert len(described["metrics"]["pretrained_sha256"]) == 64
    (words,) = (tmp_path / "tuned" / "vocabulary").glob("*.json")
    assert json.loads(words.read_text())["notes"]["tokenizer"] == "byte-level BPE"
    for file in (tmp_path / "tuned" / "predictions").glob("*.parquet"):
        for row in pq.read_table(file).to_pylist():
            if row["system"] == "hed-small":
                assert not any(mark in row["summary"] for mark in ("<s>", "</s>", "<pad>", "<mask>"))
                assert len(row["attention"]) == len(row["tokens"])

    refused = call(tmp_path, *build, "--summarizer.pretrained=facebook/bart-base")
    assert refused.returncode == 1
    assert "hf download facebook/bart-base --local-dir FOLDER" in refused.stderr


@pytest.mark.slow
def test_a_bertsum_extracts_first_and_then_writes(tmp_path: Path) -> None:
    """Fine-tuned from a folder with a BERT: extractor, summarizer, and both among the systems of one table."""
    pytest.importorskip("transformers", reason="needs the extra `backbones`")
    mine = records(tmp_path / "mine.jsonl", 300)
    bert = tmp_path / "bert"
    write_bert(bert, positions=128)
    shape = {**TINY, "source_positions": 160, "source_tokens": 160}
    build = (
        "flows",
        "build",
        *("--root", tmp_path / "data", f"--source.records.paths={mine}", *SMALL),
        *("--summarizer.preset=bertsumextabs", f"--summarizer.overrides={json.dumps(shape)}"),
        *("--baselines.systems=lead,bertsumext", f"--summarizer.pretrained={bert}", "--decoding.min-length=5"),
    )
    planned = worked(call(tmp_path, *build, "--dry-run"))
    assert "models/extractor" in planned
    table = worked(call(tmp_path, *build))
    assert all(name in table for name in ("bertsumext ", "bertsumextabs ", "lead "))
    models = {
        kind: json.loads(file.read_text())
        for kind in ("extractor", "summarizer")
        for file in (tmp_path / "data" / "models" / kind).glob("*.json")
    }
    digests = {described["metrics"]["pretrained_sha256"] for described in models.values()}
    assert len(digests) == 1
    assert models["extractor"]["metrics"]["steps"] == 1  # a quarter of 6
    rows = [
        row
        for folder in ("predictions", "baselines")
        if (tmp_path / "data" / folder).is_dir()
        for file in (tmp_path / "data" / folder).glob("*.parquet")
        for row in pq.read_table(file).to_pylist()
    ]
    extracts = [row["summary"] for row in rows if row["system"] == "bertsumext"]
    assert len(extracts) == 2
    assert all(summary.startswith(("The river", "It is known", "Many boats", "The hills")) for summary in extracts)
    assert not any("[SEP]" in row["summary"] or "[CLS]" in row["summary"] for row in rows)
    again = worked(call(tmp_path, *build))
    assert again.splitlines()[:12] == table.splitlines()[:12]
