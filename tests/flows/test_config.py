import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from flows.config import PRESETS, BuildConfig, merge
from flows.running.command_line import options
from flows.running.settings import EngineSettings
from flows.running.settings_file import read_settings
from tasks.summarization.settings import TrainingSettings


def test_the_default_is_the_embedded_web() -> None:
    config = BuildConfig()
    assert (config.preset, config.source.kind, config.search.provider) == ("miniweb", "miniweb", "searxng")


@pytest.mark.parametrize("preset", sorted(path.stem for path in PRESETS.glob("*.yaml")))
def test_every_preset_is_valid_and_survives_a_round_trip(preset: str) -> None:
    config = BuildConfig.model_validate({"preset": preset})
    assert BuildConfig.model_validate(config.model_dump(mode="json")) == config


def test_what_is_given_wins_over_the_preset_field_by_field() -> None:
    config = BuildConfig.model_validate({"vocabulary": {"pieces": 500}})
    assert config.vocabulary.pieces == 500
    assert config.vocabulary.threads == BuildConfig().vocabulary.threads


def test_the_paper_preset_has_the_papers_numbers() -> None:
    config = BuildConfig.model_validate({"preset": "paper"})
    assert (config.vocabulary.pieces, config.vocabulary.model_type) == (32_000, "unigram")
    assert (config.ranker.hidden, config.ranker.learning_rate) == (256, 0.15)
    assert config.ranking.keep == 40
    assert (config.paragraphs.quality, config.paragraphs.filter.language) == (None, None)
    assert config.graphs.similarity_threshold == 0.2
    assert (config.summarizer.preset, config.summarizer.max_paragraphs) == ("ht", 24)
    assert (config.training.steps, config.training.warmup, config.training.label_smoothing) == (500_000, 8_000, 0.1)
    assert (config.decoding.beam, config.decoding.alpha) == (5, 0.4)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"rooot": "x"}, "rooot"),
        ({"training.stepz": 7}, "training.stepz"),
        ({"settings": "training.steps"}, "settings is 'training.steps': expected full names of settings"),
        ({"paragraphs": {"filter": {"language": "xx"}}}, "'xx' is not a language that its letters show"),
        ({"ranker": {"hiden": 1}}, "ranker.hiden"),
        ({"preset": "wikipedia"}, "preset"),
        ({"shards": {"articles": 0}}, "shards.articles"),
        ({"ranking": {"method": "found"}, "decoding": {"alignment": "ranked"}}, "alignment is 'ranked'"),
        ({"imported": {"folder": "f", "vocabulary": "v"}, "decoding": {"alignment": "ranked"}}, "have no scores"),
    ],
)
def test_a_wrong_setting_is_named(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        BuildConfig.model_validate(given)


@pytest.mark.parametrize(
    "given",
    [
        {"training.steps": 5, "training": {"steps": 6}},
        {"training": {"steps": 6}, "training.steps": 5},
        {"training": {"steps": 6}, "settings": {"training.steps": 5}},
        {"training": TrainingSettings(steps=6), "training.steps": 5},
    ],
)
def test_a_setting_with_two_values_is_refused_and_one_given_twice_alike_is_not(given: dict[str, Any]) -> None:
    with pytest.raises(
        ValidationError, match=r"training\.steps is given twice, with different values: expected it once"
    ):
        BuildConfig.model_validate(given)
    alike = {"training.steps": 6, "training": {"steps": 6, "warmup": 3}, "settings": {"training.warmup": 3}}
    assert BuildConfig.model_validate(alike).training.warmup == 3


def test_merge_replaces_leaves_only() -> None:
    assert merge({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": 3}, "d": [2]}) == {"a": {"b": 3, "c": 2}, "d": [2]}


def test_every_field_is_described() -> None:
    def undescribed(model: type, prefix: str = "") -> list[str]:
        missing = []
        for name, field in model.model_fields.items():  # type: ignore[attr-defined]
            kind = field.annotation
            if isinstance(kind, type) and hasattr(kind, "model_fields"):
                missing += undescribed(kind, f"{prefix}{name}.")
            elif not field.description:
                missing.append(f"{prefix}{name}")
        return missing

    assert undescribed(BuildConfig) == []


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({}, "miniweb-data"),
        ({"root": "/var/Wiki_Sum/"}, "miniweb-wiki-sum"),
        ({"preset": "paper", "root": "s3://bucket/wiki?endpoint_override=minio:9000&scheme=http"}, "paper-wiki"),
        ({"root": "/"}, "miniweb"),
        ({"name": "articles-2026"}, "articles-2026"),
    ],
)
def test_a_corpus_is_named_after_preset_and_root_unless_it_has_a_name(given: dict[str, str], name: str) -> None:
    config = BuildConfig.model_validate(given)
    assert config.name == config.model_dump(mode="json")["name"] == name
    assert "name" not in config.recipe(), "another name recomputes nothing"


@pytest.mark.parametrize("name", ["Mine", "a b", "-a", "ä"])
def test_a_name_that_no_artifact_key_can_hold(name: str) -> None:
    with pytest.raises(ValidationError, match="name\n  String should match pattern"):
        BuildConfig.model_validate({"name": name})


def test_a_checkpoint_is_tuned_as_its_paper_tuned_it_unless_told_otherwise() -> None:
    fresh = BuildConfig.model_validate({"preset": "records", "summarizer": {"preset": "bart-base"}})
    assert (fresh.training.schedule, fresh.training.learning_rate) == ("linear", 0.004)
    loaded = {"preset": "bart-base", "pretrained": "folder"}
    tuned = BuildConfig.model_validate({"preset": "records", "summarizer": loaded})
    assert (tuned.training.schedule, tuned.training.learning_rate) == ("constant", 5e-5)
    assert (tuned.decoding.beam, tuned.decoding.max_length) == (4, 300)
    searches = [tuned.decoding.search().as_transformers, fresh.decoding.search().as_transformers]
    hie = BuildConfig.model_validate({"preset": "records", "summarizer": {**loaded, "preset": "hie-bart"}})
    assert [*searches, hie.decoding.search().as_transformers] == [True, False, False]
    assert tuned.tokenizer_folder == ("folder", "summarizer.pretrained")
    assert (tuned.decoding.length_exponent, hie.decoding.length_exponent) == (1.0, 2.0)
    long = BuildConfig.model_validate({"preset": "records", "summarizer": {**loaded, "preset": "hed"}})
    assert (long.summarizer.max_target_tokens, long.decoding.max_length) == (1024, 1024)
    own = BuildConfig.model_validate(
        {
            "preset": "records",
            "summarizer": loaded,
            "training": {"learning_rate": 1e-4},
            "decoding": {"beam": 2},
            "vocabulary": {"folder": "other"},
        }
    )
    assert (own.training.learning_rate, own.decoding.beam) == (1e-4, 2)
    assert own.tokenizer_folder == ("other", "vocabulary.folder")


@pytest.mark.parametrize(
    ("files", "exponent"),
    [
        ({"config.json": {}}, 1.0),
        ({"config.json": {"length_penalty": 2.0}}, 2.0),
        ({"config.json": {"length_penalty": 2.0}, "generation_config.json": {"length_penalty": 0.8}}, 0.8),
        ({"config.json": {"length_penalty": 2.0}, "generation_config.json": {"num_beams": 4}}, 2.0),
    ],
)
def test_a_checkpoint_is_searched_with_the_length_penalty_of_its_folder(
    tmp_path: Path, files: dict[str, dict[str, float]], exponent: float
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    summarizer = {"preset": "bart-large", "pretrained": str(tmp_path)}
    config = BuildConfig.model_validate({"preset": "records", "summarizer": summarizer})
    assert config.decoding.length_exponent == config.decoding.search().length_exponent == exponent
    own = BuildConfig.model_validate(
        {"preset": "records", "summarizer": summarizer, "decoding": {"length_exponent": 0.5}}
    )
    assert own.decoding.length_exponent == 0.5
    fresh = BuildConfig.model_validate({"preset": "records", "summarizer": {"preset": "bart-large"}})
    assert fresh.decoding.length_exponent == 1.0


@pytest.mark.parametrize("penalty", ["long", -1, True])
def test_a_length_penalty_that_is_none_is_named(tmp_path: Path, penalty: object) -> None:
    (tmp_path / "generation_config.json").write_text(json.dumps({"length_penalty": penalty}))
    with pytest.raises(ValidationError, match=f"expected length_penalty in .*from 0, got {penalty!r}: set decoding"):
        BuildConfig.model_validate({"summarizer": {"preset": "bart-large", "pretrained": str(tmp_path)}})


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (
            {"imported": {"folder": "f", "vocabulary": "v"}, "summarizer": {"preset": "bart-base", "pretrained": "c"}},
            "summarizer.pretrained is 'c', but imported shards have a vocabulary of their own",
        ),
        ({"summarizer": {"preset": "bart-base", "graph": "similarity"}}, "'bart', which reads no graph"),
        (
            {"summarizer": {"preset": "bart-base"}, "baselines": {"systems": ["lead", "bertsumext"]}},
            "names 'bertsumext', but summarizer.preset 'bart-base' has no encoder that is first trained to extract",
        ),
        (
            {"imported": {"folder": "f", "vocabulary": "v"}, "summarizer": {"preset": "hie-bart", "graph": "none"}},
            "'hie-bart' reads texts with sentences marked .* imported shards are token ids as they were",
        ),
        (
            {
                "imported": {"folder": "f", "vocabulary": "v"},
                "summarizer": {"preset": "ht-small", "graph": "none", "copying": True, "slots": True},
            },
            "'ht-small' reads texts with values as slots .* imported shards are token ids as they were",
        ),
        (
            {"vocabulary": {"model_type": "byte-bpe"}, "summarizer": {"preset": "ht-small", "slots": True}},
            "summarizer.slots needs a vocabulary of vocabulary.model_type unigram or bpe, got byte-bpe",
        ),
    ],
)
def test_what_a_checkpoint_cannot_do_is_named(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        BuildConfig.model_validate({"preset": "records", **given})


@pytest.mark.parametrize(
    ("given", "form"),
    [
        ({}, "slots"),
        ({"imported": {"folder": "f", "vocabulary": "v"}}, "plain"),
        ({"vocabulary": {"model_type": "byte-bpe"}}, "plain"),
        ({"summarizer": {"copying": False}}, "plain"),
    ],
)
def test_values_have_slots_only_where_a_vocabulary_can_have_them(given: dict[str, object], form: str) -> None:
    assert BuildConfig.model_validate({"preset": "miniweb", **given}).summarizer.form == form


def test_imported_paragraphs_are_compared_only_if_that_is_asked() -> None:
    imported = {"preset": "records", "imported": {"folder": "f", "vocabulary": "v"}}
    assert not BuildConfig.model_validate(imported).across.on
    with pytest.raises(ValidationError, match="imported paragraphs are ranked and encoded"):
        BuildConfig.model_validate({**imported, "across": {"leakage": "leads"}})


def test_a_library_that_decides_no_stage_cannot_recompute_any() -> None:
    assert EngineSettings(recompute_on=("torch",)).recompute_on == ("torch",)
    with pytest.raises(ValidationError, match=r"'toch' decides no stage: expected some of .*, torch"):
        EngineSettings(recompute_on=("torch", "toch"))


def test_there_are_no_more_settings_than_before() -> None:
    """The number may only fall. What no paper, machine, corpus, budget or language asks for is a constant."""
    assert len(list(options(BuildConfig))) <= 213


@pytest.mark.parametrize(
    "file", sorted((Path(__file__).parents[2] / "benchmarks").glob("*.yaml")), ids=lambda file: file.name
)
def test_settings_files_of_benchmarks_are_taken(file: Path) -> None:
    BuildConfig.model_validate(read_settings(file).values)
