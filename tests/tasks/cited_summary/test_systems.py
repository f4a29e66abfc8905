"""Which system is taken, and trained models through the whole pipeline; the models are tiny and untrained."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch

from models.ranker import ParagraphRanker, RankerConfig
from models.registry import build_summarizer
from models.training.layout import Layout
from models.vocabulary import Vocabulary
from models.weights_file import save_weights
from storage.builds import Build, save_build
from storage.directories import publish_directory, working_directory
from storage.errors import StorageError
from storage.recipes import ShardRecord, save_record, shard_path
from storage.registry import Version, promote_version, save_version
from storage.schemas import VOCABULARY
from storage.store import Store
from tasks.cited_summary import deciding
from tasks.cited_summary.systems import EXTRACTIVE, chosen_system, find_system, trained_systems
from tasks.ranking.ranking import TrainedRanker, describe_ranker
from tasks.summarization.directory import describe_summarizer
from tasks.summarization.settings import DecodingSettings
from tests.models.systems import tiny_fields
from tests.tasks.cited_summary.topic import HISTORY, TODAY, files, summarized
from tests.tasks.summarization.summarizer_examples import vocabulary

DECODING = DecodingSettings(beam=2, min_length=4, max_length=12, source_values=True)
CONFIG: dict[str, Any] = {
    "words": "unicode",
    "decoding": DECODING.model_dump(mode="json"),
    "ranking": {"method": "ranking", "keep": 3},
    "paragraphs": {},
    "graphs": {},
    "examples": {"paragraph_tokens": 40},
}


def summarizer_in(folder: Path, words: Vocabulary) -> None:
    torch.manual_seed(1)
    model = build_summarizer("ht-small", vocabulary_size=words.size, pad=words.pad, **tiny_fields("ht-small"))
    save_weights(model, folder / "model.safetensors")
    layout = Layout(words.pad, words.title_mark, 3, 40, None, 60)
    describe_summarizer(folder, model, words, layout, graph="similarity", preset="ht-small")


def ranker_in(folder: Path, words: Vocabulary) -> None:
    torch.manual_seed(1)
    model = ParagraphRanker(RankerConfig(words.size, words.pad, embedding=8, hidden=6))
    save_weights(model, folder / "model.safetensors")
    describe_ranker(folder, TrainedRanker(model, words, title_tokens=8, paragraph_tokens=40))


def root_with(path: Path, *models: str, **config: Any) -> str:
    """A root whose latest build has models."""
    store, paths = Store(str(path)), {}
    for name in models:
        folder = working_directory(store, f"models/{name}", "0" * 16)
        {"summarizer": summarizer_in, "ranker": ranker_in}[name](folder, vocabulary())
        record = publish_directory(
            store,
            folder,
            name=f"models/{name}",
            key="0" * 16,
            published=[],
            settings={},
            inputs={},
            metrics={},
            seconds=1.0,
        )
        paths[f"models/{name}"] = record.path
    save_build(store, Build("20260101-000000-abc", "2026-01-01", {**CONFIG, **config}, {}, paths, {}))
    return str(path)


def test_every_trained_system_of_a_root_can_be_chosen_by_its_name(tmp_path: Path):
    root = root_with(tmp_path, "summarizer", "ranker")
    (name,) = trained_systems(root)
    assert name == "build 20260101-000000-abc"
    system, choice = chosen_system(root, name)
    assert (system.summarizer, choice) == (find_system(root).summarizer, "model")
    assert chosen_system(root, "extractive")[1] == "extractive"
    with pytest.raises(StorageError, match="there is no trained system 'version 7'"):
        chosen_system(root, "version 7")
    assert trained_systems(None) == []


def test_without_a_model_sentences_are_chosen():
    system = find_system(None)
    assert (system.name, system.summarizer, system.ranking.method) == (EXTRACTIVE, None, "similarity")
    assert system.why == "No model was given, so whole sentences of the sources are chosen."


def test_a_root_gives_its_models_with_the_settings_they_were_made_with(tmp_path: Path):
    system = find_system(root_with(tmp_path, "summarizer", "ranker"))
    assert system.name == "ht-small+similarity"
    assert system.summarizer is not None
    assert system.ranker is not None
    assert (system.decoding, system.ranking.keep) == (DECODING, 3)
    assert system.why == "ht-small+similarity is the summarizer of build 20260101-000000-abc."


def test_a_corpus_built_later_does_not_hide_the_summarizer(tmp_path: Path):
    root = root_with(tmp_path, "summarizer", "ranker")
    later = Build("20260102-000000-abc", "2026-01-02", {**CONFIG, "ranking": {}}, {"articles": {"0": "a"}}, {}, {})
    save_build(Store(root), later)
    system = find_system(root)
    assert system.why == "ht-small+similarity is the summarizer of build 20260101-000000-abc."
    assert system.ranking.keep == 3


def test_the_champion_comes_before_the_latest_build_and_a_roll_back_is_followed(tmp_path: Path):
    store = Store(root_with(tmp_path, "summarizer", "ranker"))
    words = pa.table({"model": [vocabulary().model], "pieces": [1], "sentences": [1]}, schema=VOCABULARY.schema)
    record = ShardRecord(
        "vocabulary",
        0,
        "0" * 16,
        store.write_table(shard_path("vocabulary", 0, "0" * 16), words, VOCABULARY),
        {},
        {},
        {},
        1,
        1.0,
        1,
    )
    save_record(store, record)
    models = {f"models/{name}": f"models/{name}/{'0' * 16}" for name in ("summarizer", "ranker")}
    for number, beam in ((1, 3), (2, 4)):
        settings = {**CONFIG, "decoding": {**CONFIG["decoding"], "beam": beam}}
        save_version(store, Version(number, "", "", "20260101-000000-abc", None, models, record.path, settings, {}, {}))
    for number, beam in ((2, 4), (1, 3)):
        promote_version(store, number, at="2026-01-01", why="")
        system = find_system(store.root)
        assert system.decoding.beam == beam
        assert f"version {number}, the champion." in system.why


def test_a_registry_is_that_of_its_root(tmp_path: Path):
    root = root_with(tmp_path, "summarizer")
    assert find_system(f"{root}/registry/").summarizer == find_system(root).summarizer


@pytest.mark.parametrize(
    ("models", "config", "why"),
    [
        (("ranker",), {}, "There is no trained summarizer in build"),
        (("summarizer",), {"decoding": {"alignment": "predicted"}}, "decodes with an attention predictor and has none"),
        (("summarizer",), {"decoding": {"no_such_setting": 1}}, "are those of another version of this program"),
    ],
)
def test_where_nothing_fits_the_extractive_system_says_why(tmp_path: Path, models, config, why):
    system = find_system(root_with(tmp_path, *models, **config))
    assert (system.name, system.summarizer) == (EXTRACTIVE, None)
    assert why in system.why
    assert (system.ranker is not None) == ("ranker" in models)


def test_what_is_no_root_is_an_error_that_names_it(tmp_path: Path):
    with pytest.raises(StorageError, match="nowhere"):
        find_system(str(tmp_path / "nowhere"))
    with pytest.raises(StorageError, match="is neither a root with a build nor a trained model's folder"):
        find_system(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"preset": "ht"}))
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(StorageError, match=r"config\.json does not describe a summarizer"):
        find_system(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2"}))
    with pytest.raises(StorageError, match=r"expected tokenizer\.json or tokenizer_config\.json"):
        find_system(str(tmp_path))
    (tmp_path / "config.json").write_text('{"architectures": ["LlamaForCausalLM"],')
    with pytest.raises(StorageError, match=r"config\.json: expected JSON, but Expecting property name .*: line 1"):
        find_system(str(tmp_path))


def test_the_home_of_nobody_is_an_error_that_names_it():
    with pytest.raises(StorageError, match="root '~nobody-of-that-name/data' cannot be opened"):
        find_system("~nobody-of-that-name/data")


@pytest.mark.parametrize("models", [("summarizer",), ("summarizer", "ranker")])
@pytest.mark.integration
def test_a_trained_model_writes_from_sources_and_invents_no_value(tmp_path: Path, models):
    system = find_system(root_with(tmp_path, *models))
    summary, _ = summarized(files(history_txt=HISTORY, today_html=TODAY), system=system, choice="model")
    assert summary.system == "ht-small+similarity"
    assert summary.sentences
    assert not any("19" in value for sentence in summary.sentences for value in sentence.missing)


@pytest.mark.integration
def test_a_models_folder_alone_is_ranked_by_similarity(tmp_path: Path):
    summarizer_in(tmp_path, vocabulary())
    system = find_system(str(tmp_path))
    assert (system.ranker, system.ranking.method, system.decoding.source_values) == (None, "similarity", True)
    assert f"is the model in the folder {tmp_path.name};" in system.why, "not where it is on this machine"
    summary, _ = summarized(files(today_html=TODAY), system=system, choice="model", headings=True)
    assert summary.system == "ht-small+similarity"
    assert "ht-small+similarity writes no headings." in summary.notes


@pytest.mark.integration
def test_nonsense_gives_way_to_sentences_of_the_sources_and_it_is_said(tmp_path: Path, monkeypatch):
    """The model is untrained, and its vocabulary is let pass as if it suited."""
    monkeypatch.setattr(deciding, "MOST_PIECES", 100.0)
    system, said = find_system(root_with(tmp_path, "summarizer", "ranker")), []
    summary, _ = summarized(files(history_txt=HISTORY, today_html=TODAY), system=system, said=said)
    assert summary.system == EXTRACTIVE
    assert {sentence.verdict for sentence in summary.sentences} == {"said"}
    assert "ht-small+similarity wrote" in summary.why
    assert summary.notes[0] == (
        "The trained model ht-small+similarity does not suit these sources: sentences of theirs are shown."
    )
    shares = [now.share for now in said]
    assert shares == sorted(shares)
    texts = [now.text for now in said]
    assert texts.index("writing with ht-small+similarity") < texts.index("writing with concepts")
    asked, _ = summarized(files(today_html=TODAY), system=system, choice="extractive")
    assert (asked.system, asked.why, asked.notes) == (EXTRACTIVE, "The extractive system was asked for.", [])


@pytest.mark.integration
def test_a_model_is_not_blamed_for_sources_without_text(tmp_path: Path):
    system = find_system(root_with(tmp_path, "summarizer"))
    summary, _ = summarized(files(menu_txt="Home"), system=system)
    assert (summary.sentences, summary.system) == ([], "ht-small+similarity")
    assert not any("does not suit" in note for note in summary.notes)
