"""A summarizer as a shared folder: it loads with models/ alone and writes what it wrote in its build."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from models.exported import load_exported
from storage.builds import Build, record_build
from storage.directories import publish_directory, working_directory
from storage.errors import CorruptShardError, StorageError
from storage.recipes import ShardRecord, save_record, shard_path
from storage.registry import Version, save_version
from storage.schemas import SCORES
from storage.store import Store
from tasks.cited_summary.systems import find_system
from tasks.exchange.shared_model import export_model
from tasks.exchange.sharing import Sharing, share
from tasks.summarization.decoding import decode_shard
from tasks.summarization.settings import DecodingSettings
from tasks.summarization.training import train_summarizer
from tests.tasks.summarization import summarizer_examples as ours

pytestmark = pytest.mark.integration

PROJECT = Path(__file__).parents[3]
DECODING = DecodingSettings(max_length=30, min_length=3, beam=2, source_values=True, block_recent=2, max_paragraphs=2)
FILES = {
    "README.md",
    "config.json",
    "export.json",
    "model.safetensors",
    "search.json",
    "settings.json",
    "vocabulary.model",
}


def settings(decoding: DecodingSettings) -> dict[str, Any]:
    return {
        "seed": 1,
        "decoding": decoding.model_dump(mode="json"),
        "source": {"kind": "miniweb"},
        "crawl": {"contact": "someone@example.org"},
    }


def made(store: Store, directory: Path, decoding: DecodingSettings) -> Build:
    """Record a build of the directory's model, scored on two articles."""
    metrics = [("rouge1", 0.25, 0.5), ("values-input", 0.5, 1.0), ("density", 2.0, 3.0)]
    rows = [
        {"article_id": id_, "system": system, "metric": metric, "value": value}
        for metric, *values in metrics
        for system, share_ in (("ht+similarity", 1.0), ("lead", 0.5))
        for id_, value in zip("ab", (share_ * value for value in values), strict=True)
    ]
    table = pa.Table.from_pylist(rows, SCORES.schema)
    written = store.write_table(shard_path("scores", 0, "0" * 16), table, SCORES)
    record = ShardRecord("scores", 0, "0" * 16, written, {}, {}, {}, SCORES.version, 0.0, 0)
    save_record(store, record)
    published = sorted(path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file())
    model = publish_directory(
        store,
        directory,
        name="models/summarizer",
        key=directory.name,
        published=published,
        settings={"preset": "ht"},
        inputs={},
        metrics={"steps": 6, "parameters": 1234, "validation_nll": 4.25},
        seconds=1.0,
    )
    return record_build(
        store, settings(decoding), {"scores": {0: record}}, {"models/summarizer": model}, label=f"{decoding.checkpoint}"
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A root with a summarizer that reads the similarity graph."""
    store = Store(str(tmp_path_factory.mktemp("model") / "root"))
    directory = working_directory(store, "models/summarizer", "a" * 16)
    summarizer = ours.TINY.model_copy(update={"graph": "similarity"})
    data = ours.InMemory([(*some, ours.graphs(some[0])) for some in ours.shards().tables])
    training = ours.FEW.model_copy(
        update={"steps": 100, "validation_interval": 50, "learning_rate_factor": 0.5, "label_smoothing": 0.0}
    )
    train_summarizer(data, ours.vocabulary(), summarizer, training=training, directory=directory, seed=1)
    return store


@pytest.fixture(scope="module")
def directory(store: Store) -> Path:
    return working_directory(store, "models/summarizer", "a" * 16)


LONELY = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"prefect", "flows", "tasks", "storage", "pydantic", "spacy", "sklearn"}:
            raise ImportError(f"{name} is not at hand")

sys.meta_path.insert(0, Blocked())
"""


@pytest.mark.parametrize("checkpoint", [0, 1])
def test_an_exported_summarizer_writes_the_same_with_models_alone(
    store: Store, directory: Path, tmp_path: Path, checkpoint: int
) -> None:
    decoding = DECODING.model_copy(update={"checkpoint": checkpoint})
    build = made(store, directory, decoding)
    told = export_model(store, Store(str(tmp_path)), build.name)
    assert told.startswith(f"build {build.name} in 6 files, ")
    assert {path.name for path in tmp_path.iterdir()} == FILES
    examples = ours.examples("test")
    expected = decode_shard(examples, directory, decoding, graphs=ours.graphs(examples))["summary"].to_pylist()
    assert len(set(expected)) > 1
    texts = [[fact, "See the map of Tavia.", "No more is known."] for fact in ours.FACTS.values()]
    program = f"""{LONELY}
import json
from models.exported import load_exported
from models.search.step import Hypothesis
from models.vocabulary import Vocabulary
summarizer = load_exported(sys.argv[1])
print(json.dumps([summarizer.summarize(title, texts, [(0, 1, 0.5)]) for title, texts in json.loads(sys.argv[2])]))
"""
    call = [sys.executable, "-c", program, str(tmp_path), json.dumps(list(zip(ours.FACTS, texts, strict=True)))]
    done = subprocess.run(call, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
    without = load_exported(tmp_path).summarize("Aral", texts[0])
    assert isinstance(without, str)


def test_the_card_puts_truth_before_rouge_and_its_example_runs(store: Store, directory: Path, tmp_path: Path) -> None:
    build = made(store, directory, DECODING)
    export_model(store, Store(str(tmp_path)), build.name)
    card = (tmp_path / "README.md").read_text()
    table = [line for line in card.splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[:3] for line in table] == [
        ["| metric", "ht+similarity", "lead"],
        ["| ---", "---", "---"],
        ["| values in input, %", "75.00", "37.50"],
        ["| ROUGE-1, %", "37.50", "18.75"],
        ["| density", "2.50", "1.25"],
    ]
    assert "1,234 weights, preset `ht`, graph `similarity`" in card
    assert "6 steps, 4.25 nats per token on validation articles" in card
    assert "over 2 test articles" in card
    assert "someone" not in "".join(
        path.read_text() for path in tmp_path.glob("*.*") if path.suffix in {".md", ".json"}
    )
    (example,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    program = example.replace("path/of/this/folder", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", LONELY + program], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_a_version_is_exported_by_its_number(store: Store, directory: Path, tmp_path: Path) -> None:
    build = made(store, directory, DECODING)
    scores = {"rougeL": 0.2, "an old metric": 0.1, "values": 0.5}
    version = Version(
        3, "2026-11-22T10:00:00+00:00", "2026-W47", build.name, None, build.models, "", build.config, scores, {}
    )
    save_version(store, version)
    told = share(Sharing(store.root, str(tmp_path), model="3"))
    assert told.startswith("version 3 in 6 files")
    card = (tmp_path / "README.md").read_text()
    order = [card.index(f"| {name}") for name in ("values F1, % | 50.00", "ROUGE-L, % | 20.00", "an old metric | 0.10")]
    assert order == sorted(order)
    assert share(Sharing(store.root, str(tmp_path), model="3")).endswith("holds this export already: 6 files")


def test_a_summary_by_an_export_is_decoded_as_its_scores_were(store: Store, directory: Path, tmp_path: Path) -> None:
    decoding = DECODING.model_copy(update={"checkpoint": 1, "alpha": 0.5})
    export_model(store, Store(str(tmp_path)), made(store, directory, decoding).name)
    system = find_system(str(tmp_path))
    assert system.decoding == decoding.model_copy(update={"checkpoint": 0}), "the export has that checkpoint's weights"
    aligned = decoding.model_copy(update={"alignment": "predicted", "checkpoint": 0})
    (tmp_path / "settings.json").write_text(json.dumps(settings(aligned)))
    assert find_system(str(tmp_path)).decoding.alignment == "none", "there is no attention predictor in an export"
    (tmp_path / "settings.json").write_text('{"decoding": {"beams": 2}}')
    assert "is that of another version of this program" in find_system(str(tmp_path)).why


def test_the_latest_build_needs_no_name(store: Store, directory: Path, tmp_path: Path) -> None:
    build = made(store, directory, DECODING)
    assert export_model(store, Store(str(tmp_path)), "latest").startswith(f"build {build.name} in 6 files")


def test_a_guided_search_is_named_in_the_card(store: Store, directory: Path, tmp_path: Path) -> None:
    build = made(store, directory, DECODING.model_copy(update={"coverage": 0.5}))
    export_model(store, Store(str(tmp_path)), build.name)
    assert "`load_exported` does not have: coverage 0.5.**" in (tmp_path / "README.md").read_text()


def test_what_cannot_be_exported_is_named(store: Store, directory: Path, tmp_path: Path) -> None:
    build = made(store, directory, DECODING)
    to = Store(str(tmp_path / "to"))
    assert export_model(store, to, build.name, dry_run=True).startswith(f"dry run: build {build.name}, ")
    bare = record_build(store, {}, {}, {}, label="bare")
    with pytest.raises(ValueError, match="has no summarizer, only no model"):
        export_model(store, to, bare.name)
    with pytest.raises(StorageError, match="no version 9 below"):
        export_model(store, to, "9")
    with pytest.raises(StorageError, match="no build '2026-x' below"):
        export_model(store, to, "2026-x")
    with pytest.raises(StorageError, match="has no champion"):
        export_model(store, to, "champion")
    assert not (tmp_path / "to").exists()
    vocabulary = directory / "vocabulary.model"
    whole = vocabulary.read_bytes()
    vocabulary.write_bytes(whole[:-1] + b"x")
    with pytest.raises(CorruptShardError, match=r"vocabulary\.model.*do not match"):
        export_model(store, to, build.name)
    assert {path.name for path in (tmp_path / "to").iterdir()} == {".unfinished", "model.safetensors"}
    vocabulary.write_bytes(whole)
    export_model(store, to, build.name)
    assert {path.name for path in (tmp_path / "to").iterdir()} == FILES


@pytest.mark.parametrize(("file", "expected"), [("search.json", "does not say how"), ("config.json", "no config.json")])
def test_a_folder_that_is_not_whole_is_refused(
    store: Store, directory: Path, tmp_path: Path, file: str, expected: str
) -> None:
    export_model(store, Store(str(tmp_path)), made(store, directory, DECODING).name)
    (tmp_path / file).unlink()
    with pytest.raises(ValueError, match=expected):
        load_exported(tmp_path)
