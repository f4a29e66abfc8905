"""The summarizer stage leaves a self-contained model, resumes exactly, and reads only the splits it may."""

import errno
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch

from models.training.checkpoints import read_metrics
from models.training.state import TrainingProgress
from models.vocabulary import Vocabulary
from storage.directories import find_directory
from storage.schemas import EXAMPLES
from storage.store import Store
from storage.verification import verify
from tasks.engine.job import Job
from tasks.engine.recipe import Recipe
from tasks.engine.shard import make_directory
from tasks.summarization.directory import load_summarizer, with_graphs
from tasks.summarization.examples import layout_of
from tasks.summarization.settings import SummarizerSettings, TrainingSettings
from tasks.summarization.training import train_summarizer, validation_examples
from tests.tasks.ranking.ranker_world import vocabulary as ranker_vocabulary
from tests.tasks.summarization.summarizer_examples import FEW, TINY, InMemory, examples, graphs, shards, vocabulary

pytestmark = pytest.mark.integration


def _train(directory: Path, settings: SummarizerSettings = TINY, seed: int = 1, progress=None, data=None, **changes):
    training = FEW.model_copy(update=changes)
    return train_summarizer(
        data or shards(), vocabulary(), settings, training=training, directory=directory, seed=seed, progress=progress
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("trained")
    _train(directory)
    return directory


def test_a_model_directory_is_self_contained(tmp_path: Path) -> None:
    reports: list[TrainingProgress] = []
    metrics = _train(tmp_path, progress=reports.append)
    assert metrics["steps"] == 6
    assert metrics["finished"]
    assert json.loads(json.dumps(metrics)) == metrics
    assert 0 <= metrics["rouge2"] <= metrics["rouge1"] <= 1
    best = json.loads((tmp_path / "best.json").read_text())
    assert best[0]["score"] == metrics["validation_nll"] == min(r.validation for r in reports if r.validation)
    assert metrics["published"] == [
        "model.safetensors",
        "config.json",
        "vocabulary.model",
        "best.json",
        *(f"{entry['checkpoint']}/model.safetensors" for entry in best),
    ]
    assert all((tmp_path / file).is_file() for file in metrics["published"])
    loaded = load_summarizer(tmp_path)
    assert (loaded.name, loaded.vocabulary, loaded.model.training) == ("ht", vocabulary(), False)
    assert sum(p.numel() for p in loaded.model.parameters()) == metrics["parameters"]
    assert loaded.layout.max_paragraphs == 3
    assert loaded.layout.title_mark == vocabulary().title_mark
    assert [r["step"] for r in read_metrics(tmp_path / "metrics.jsonl")] == [2, 2, 4, 4, 6, 6]
    assert reports[-1].share == 1
    assert str(reports[0]).startswith("step 2 of 6; loss ")
    other = load_summarizer(tmp_path, checkpoint=1)
    pairs = zip(loaded.model.parameters(), other.model.parameters(), strict=True)
    assert any(not torch.equal(a, b) for a, b in pairs)
    with pytest.raises(ValueError, match="expected checkpoint 0 to 1 of"):
        load_summarizer(tmp_path, checkpoint=2)


def test_an_interrupted_training_ends_in_the_same_model(trained: Path, tmp_path: Path) -> None:
    def fail(at: TrainingProgress) -> None:
        if at.step == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _train(tmp_path, progress=fail)
    metrics = _train(tmp_path)
    for file in metrics["published"]:
        assert (tmp_path / file).read_bytes() == (trained / file).read_bytes(), file


def test_another_seed_or_setting_is_refused_where_a_model_is_being_trained(trained: Path) -> None:
    before = (trained / "config.json").read_bytes()
    with pytest.raises(ValueError, match=r"other settings \(seed\): seed was 1 and is 2"):
        _train(trained, seed=2)
    with pytest.raises(ValueError, match=r"other settings \(label_smoothing\)"):
        _train(trained, label_smoothing=0.2)
    with pytest.raises(ValueError, match=r"max_paragraphs was 3 and is 2"):
        _train(trained, TINY.model_copy(update={"max_paragraphs": 2}))
    assert (trained / "config.json").read_bytes() == before
    assert _train(trained, log_interval=1, decoded_articles=0)["steps"] == 6  # these change nothing


def test_label_smoothing_is_that_of_the_settings(tmp_path: Path) -> None:
    for smoothing in (0.0, 0.4):
        _train(tmp_path / str(smoothing), label_smoothing=smoothing, steps=2)
        for line in read_metrics(tmp_path / str(smoothing) / "metrics.jsonl"):
            assert (line["loss"] == line["nll"]) == (smoothing == 0.0)


def test_rows_of_the_test_split_are_never_looked_at(tmp_path: Path) -> None:
    poison = examples("test").set_column(
        EXAMPLES.schema.get_field_index("target"),
        EXAMPLES.schema.field("target"),
        pa.array([[]] * 4, pa.list_(pa.int32())),
    )
    data = InMemory([(pa.concat_tables([poison, examples("train"), examples("valid")]),)])
    assert _train(tmp_path, data=data, steps=2)["steps"] == 2


def test_validation_takes_no_more_articles_than_asked() -> None:
    found = validation_examples(shards(), "none", 9)
    assert found.column("article_id").to_pylist() == ["valid-Aral", "valid-Cyrine"]
    assert validation_examples(shards(), "none", 1).column("article_id").to_pylist() == ["valid-Aral"]


def test_without_validation_examples_the_last_weights_are_the_model(tmp_path: Path) -> None:
    metrics = _train(tmp_path, data=InMemory([(examples("train"),)]))
    assert metrics["validation_nll"] is None
    assert metrics["published"][:3] == ["model.safetensors", "config.json", "vocabulary.model"]
    last = tmp_path / "checkpoints/step-00000006/model.safetensors"
    assert (tmp_path / "model.safetensors").read_bytes() == last.read_bytes()


@pytest.mark.parametrize("kind", ["similarity", "discourse"])
def test_a_graph_is_read_where_the_settings_name_one(kind: str, tmp_path: Path) -> None:
    table = pa.concat_tables([examples("train"), examples("valid")])
    settings = TINY.model_copy(update={"graph": kind})
    _train(tmp_path, settings, data=InMemory([(table, graphs(table))]), steps=2)
    loaded = load_summarizer(tmp_path)
    assert (loaded.graph, loaded.layout.graph, loaded.name) == (kind, True, f"ht+{kind}")
    with pytest.raises(ValueError, match="expected shards of examples and graphs"):
        _train(tmp_path, settings, data=InMemory([(table,)]), steps=2)


def test_graphs_are_joined_by_article() -> None:
    table = pa.concat_tables([examples("train"), examples("valid", titles=["Aral"], paragraphs=1)])
    joined = with_graphs(table, graphs(table).slice(1), "similarity")  # the single paragraph's graph is missing
    assert joined.column("graph").to_pylist() == [[{"i": 0, "j": 1, "weight": 0.5}]] * 4 + [[]]
    assert with_graphs(table, graphs(table), "none") is table
    with pytest.raises(ValueError, match="article train-Aral has 3 paragraphs and no row among the graphs"):
        with_graphs(table, graphs(table).slice(0, 1), "similarity")


def test_settings_that_cannot_be_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown preset 'hat'"):
        _train(tmp_path, TINY.model_copy(update={"preset": "hat"}))
    with pytest.raises(ValueError, match="unknown field 'layers'"):
        _train(tmp_path, TINY.model_copy(update={"overrides": {"layers": 3}}))
    with pytest.raises(ValueError, match=r"batch_tokens of 100 .* expected at least 120"):
        _train(tmp_path, batch_tokens=100)
    with pytest.raises(ValueError, match="found none in 1 shards"):
        _train(tmp_path, data=InMemory([(examples("valid"),)]))
    with pytest.raises(ValueError, match="extra"):
        TrainingSettings(batch_size=3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="expected a trained summarizer in"):
        load_summarizer(tmp_path / "nowhere")


def test_training_starts_from_the_weights_of_another_model(trained: Path, tmp_path: Path) -> None:
    training = FEW.model_copy(update={"steps": 1, "schedule": "constant", "learning_rate": 1e-12})
    train_summarizer(shards(), vocabulary(), TINY, training=training, directory=tmp_path, seed=7, initial=trained)
    pairs = zip(load_summarizer(tmp_path).model.parameters(), load_summarizer(trained).model.parameters(), strict=True)
    assert all(torch.allclose(mine, start, atol=1e-6) for mine, start in pairs)


def test_training_on_never_ends_with_worse_weights_than_it_started_from(trained: Path, tmp_path: Path) -> None:
    ruinous = FEW.model_copy(update={"schedule": "constant", "learning_rate": 10.0})
    found = train_summarizer(
        shards(), vocabulary(), TINY, training=ruinous, directory=tmp_path, seed=7, initial=trained
    )
    pairs = zip(load_summarizer(tmp_path).model.parameters(), load_summarizer(trained).model.parameters(), strict=True)
    assert all(torch.equal(mine, start) for mine, start in pairs)
    assert found["steps"] == FEW.steps


def test_a_run_goes_on_only_from_where_it_started(trained: Path, tmp_path: Path) -> None:
    def train(steps: int, initial: Path | None) -> dict[str, Any]:
        few = FEW.model_copy(update={"steps": steps})
        return train_summarizer(shards(), vocabulary(), TINY, training=few, directory=tmp_path, seed=7, initial=initial)

    train(2, trained)
    with pytest.raises(ValueError, match=r"other settings \(initial\): initial was '[0-9a-f]{64}' and is None"):
        train(3, None)
    assert train(3, trained)["steps"] == 3


def test_a_linear_run_keeps_its_number_of_steps(tmp_path: Path) -> None:
    linear = {"schedule": "linear", "learning_rate": 1e-3, "warmup": 2}
    _train(tmp_path, **linear)
    rates = [line["learning_rate"] for line in read_metrics(tmp_path / "metrics.jsonl") if line["kind"] == "train"]
    assert rates[-1] == pytest.approx(1e-3 / (FEW.steps - 1))
    with pytest.raises(ValueError, match=r"other settings \(steps\)"):
        _train(tmp_path, **linear, steps=FEW.steps + 1)


def test_a_start_from_another_architecture_or_vocabulary_is_refused(trained: Path, tmp_path: Path) -> None:
    wide = TINY.model_copy(update={"overrides": {**TINY.overrides, "feed_forward_size": 96}})
    with pytest.raises(ValueError, match=r"training cannot start from .*feed_forward_size"):
        train_summarizer(shards(), vocabulary(), wide, training=FEW, directory=tmp_path, seed=1, initial=trained)
    other = Vocabulary(ranker_vocabulary().model)
    with pytest.raises(ValueError, match="has another vocabulary"):
        train_summarizer(shards(), other, TINY, training=FEW, directory=tmp_path, seed=1, initial=trained)


def fill_disk(*, directory: Path) -> dict[str, Any]:
    """Train, from step 3 with files that may be no larger than the weights: the optimizer's state is twice that."""

    def limit(now: TrainingProgress) -> None:
        if now.step == 3:
            size = (directory / "model.safetensors").stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return _train(directory, progress=limit, log_interval=1)


def test_a_checkpoint_on_a_full_disk_names_the_disk_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the full disk; the kernel refuses the write in the same place."""
    script = (
        "import sys; from tasks.engine.recipe import Recipe; from tasks.engine.job import Job\n"
        "from tasks.engine.shard import make_directory\n"
        "from tests.tasks.summarization.test_training import fill_disk\n"
        "make_directory(Job(root=sys.argv[1], recipe=Recipe('models/m', fill_disk, version=1), shard=0, key='k', "
        "inputs={}, digests={}))\n"
    )
    project = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], cwd=project, capture_output=True, text=True, timeout=240
    )
    folder = tmp_path / "models" / "m" / "k"
    assert f"storage.errors.StorageFullError: no space left for {folder}: free some" in done.stderr
    assert (
        f"[Errno {errno.EFBIG}] File too large: '{folder}/checkpoints/.writing-step-00000004/optimizer" in done.stderr
    )
    assert sorted(path.name for path in (folder / "checkpoints").iterdir()) == ["step-00000002"]
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]
    assert _train(folder, log_interval=1)["steps"] == 6, "with space again it goes on"


def train_here(*, directory: Path) -> dict[str, Any]:
    return _train(directory)


def test_damage_anywhere_in_a_trained_model_heals_to_the_same_model(tmp_path: Path) -> None:
    """Found by verification, set aside, and made again by the next run: bit for bit, whichever file it was."""
    store = Store(str(tmp_path))
    job = Job(
        root=str(tmp_path),
        recipe=Recipe("models/m", train_here, version=1),
        shard=0,
        key="0123456789abcdef",
        inputs={},
        digests={},
    )
    whole = make_directory(job)
    assert len([file for file in whole.files if file.endswith("state.json")]) >= 2
    for file in whole.files:
        path = tmp_path / whole.path / file
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        found = verify(store, repair=True)
        assert list(found.damaged) == [f"{whole.path}/{file}"]
        assert find_directory(store, whole.path) is None
        again = make_directory(job)
        assert again.digest == whole.digest, file
        assert again.files.keys() == whole.files.keys(), file
        assert verify(store, repair=True).damaged == {}, file


def test_threads_are_those_of_the_recipe(tmp_path: Path) -> None:
    """Sums, and so the bytes of weights, depend on their number."""
    seen: list[int] = []
    _train(tmp_path, progress=lambda _: seen.append(torch.get_num_threads()), torch_threads=3)
    assert set(seen) == {3}
    assert torch.get_num_threads() == 1
    assert FEW.recipe()["torch_threads"] == 1


def test_tokens_that_a_flat_summarizer_would_drop_are_not_laid_out() -> None:
    def limit(**fields: Any) -> int | None:
        return layout_of(SummarizerSettings(**fields), vocabulary()).max_source_tokens

    assert limit(preset="ft-600") == 600  # else 24 x 100 tokens would be padded, batched and counted
    assert limit(preset="t-dmca") == 3000
    assert limit(preset="ft-600", overrides={"source_tokens": 50}) == 50
    assert limit(preset="ft-600", max_source_tokens=70) == 70
    assert limit(preset="ft-600", max_source_tokens=700) == 600
    assert limit(preset="ht") is None
    assert limit(preset="ht", max_source_tokens=1600) == 1600
