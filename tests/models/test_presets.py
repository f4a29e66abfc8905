"""Laws of presets: their notes say what they hold, each number has a source, and they have what their papers state.

How many parameters each has is in `test_registry.py`. "Released" is the code of Liu & Lapata 2019 or Ma & Zong 2020
that gave the published scores, "published" is a configuration that its makers published.
"""

import re
import tomllib
from dataclasses import MISSING, asdict, fields
from importlib.resources import files
from typing import Any

import pytest

from models.attention_predictor import AttentionPredictorConfig
from models.presets import PRESETS
from models.ranker import RankerConfig
from models.registry import ARCHITECTURES, build_summarizer, configuration
from models.search.settings import Guidance, SearchSettings
from models.training.state import TrainerSettings
from models.training.token_objective import TokenObjective

DATA = files("models").joinpath("presets.toml").read_text(encoding="utf-8")
DEPTHS = ("local_layers", "word_layers", "encoder_layers", "global_layers", "graph_layers", "decoder_layers")


def sizes(name: str) -> dict[str, Any]:
    """The whole configuration of a preset."""
    return asdict(configuration(name, vocabulary_size=9))


@pytest.mark.parametrize("name", PRESETS)
def test_the_note_says_what_the_preset_holds(name: str) -> None:
    found, note = sizes(name), PRESETS[name].note
    # T5-Small's note compares it with the published one, which is another size.
    note = note.split(";")[0] if "published" in note else note
    for size in re.findall(r"d=([\d,]+)|LSTMs of ([\d,]+)", note):
        assert found["model_size"] == int("".join(size).replace(",", ""))
    for tokens in re.findall(r"([\d,]+) tokens", note):
        assert found["source_tokens"] == int(tokens.replace(",", ""))
    if depths := re.search(r"(\d+)(?: local)? \+ (\d+)(?: global)?(?: layers)?(?:, (\d)(?: |;|$)(?!heads))?", note):
        stated = [int(depth) for depth in depths.groups() if depth is not None]
        assert [found[field] for field in DEPTHS if field in found][: len(stated)] == stated
    if heads := re.search(r"(\d) heads$", note):
        assert found["heads"] == int(heads[1])
    if words := re.search(r"(\d) heads of (\d) see words", note):
        assert (found["heads"] - found["sentence_heads"], found["heads"]) == tuple(map(int, words.groups()))
    if shares := re.search(r"words : sentences = (\d+):(\d+)", note):
        assert (found["heads"] - found["sentence_heads"], found["sentence_heads"]) == tuple(map(int, shares.groups()))


@pytest.mark.parametrize("name", [name for name in PRESETS if name.startswith("hed") and PRESETS[name].parameters])
def test_rows_of_hed_have_the_parts_that_their_notes_add(name: str) -> None:
    added, found = PRESETS[name].note.replace(":", " ").split(), sizes(name)
    for mark, field in (("<s>", "document_begin"), ("HAE", "hae"), ("HAD", "had"), ("PR", "position_restart")):
        assert (mark in added) == found[field]


# What papers and published code state, and neither a note nor the number of parameters shows.
STATED: dict[str, dict[str, object]] = {
    "ht": {  # released
        "heads": 8,
        "norm": "pre",
        "norm_epsilon": 1e-6,
        "position_order": "token-rank",
        "scale_embeddings": True,
        "paragraph_positions": True,
        "pooling_heads": None,
        "pooling_weights": "normalised",
        "inter_scaled": True,
        "global_residual": "g+(x+c)",
        "graph": "none",
        "dropout": 0.1,  # Liu & Lapata 2019, sec. 4
        "attention_dropout": 0.0,
    },
    "ht-paper": {  # Liu & Lapata 2019
        "decoder_layers": 6,  # Vaswani et al. 2017
        "norm": "post",  # eq. 11
        "position_order": "rank-token",  # eq. 9
        "scale_embeddings": False,  # eq. 10
        "global_residual": "g+x",  # eq. 23
        "inter_projections": "per-head",  # eq. 17-19
        "inter_scaled": False,  # eq. 20
        "pooling_projection": True,  # eq. 16
        "pooling_weights": "raw",  # eq. 16
    },
    "ht-no-positions": {"paragraph_positions": False},  # Liu & Lapata 2019, Table 3
    "ht-one-head": {"pooling_heads": 1},
    "ht-no-global": {"global_layers": 0},
    "ht-similarity": {"graph": "similarity"},  # Liu & Lapata 2019, sec. 3.2.4
    "ht-discourse": {"graph": "discourse"},
    "ft-1600": {"heads": 8, "norm": "pre"},  # released
    "ft-3": {
        "norm": "post",
        "scale_embeddings": True,
        "dropout": 0.1,
        "source_tokens": 1600,
    },  # Ma & Zong 2022, sec. 5.3
    "pht": {
        "norm_epsilon": 1e-6,
        "dropout": 0.3,
        "pooling_norm": True,
        "pooling_scaled": True,
        "scale_embeddings": True,
    },
    "vht": {"norm_epsilon": 1e-6, "dropout": 0.3, "ranking_norm": True, "ranking_residual": False},
    "t-dmca": {"layers": 5, "model_size": 512, "feed_forward_size": 2048, "norm": "post"},  # Liu & Lapata 2019, sec. 4
    "t-dmca-3": {"block": 256, "window": 3, "dropout": 0.1, "loss_over_input": True},  # published; Liu et al. 2018
    "transformer-xl": {"memory": 512, "memory_gradient": True, "layers": 3},  # Ma & Zong 2020, sec. 4.3; ours
    "graphsum": {"heads": 8, "norm": "pre", "sigma": 2.0, "graph": "similarity", "dropout": 0.1},  # published
    "ptgen": {"coverage": False, "coverage_loss": 1.0, "dropout": 0.0},  # See et al. 2017, sec. 5
    "bart-large": {  # published
        **{"begin": 2, "end": 2, "source_begin": 0, "heads": 16, "max_positions": 1024, "source_tokens": 1024},
        **{"dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1, "sentence_begin": None},
    },
    "hed": {"max_positions": 4096, "source_tokens": 4096},  # Shen et al. 2023, sec. 5.3
    "led": {  # published
        **{"begin": 2, "end": 2, "source_begin": 0, "separator": None, "window": 1024, "max_positions": 1024},
        **{"max_source_positions": 16_384, "dropout": 0.1, "attention_dropout": 0.0, "activation_dropout": 0.0},
    },
    "primera": {"document_begin": True, "window": 512},  # Xiao et al. 2022, sec. 2.1
    "t5-base": {  # published; Raffel et al. 2020, sec. 3.1.2
        **{"begin": 0, "end": 1, "dropout": 0.1, "source_tokens": 512, "head_size": 64, "gated": False},
        **{"own_outputs": False, "document_begin": False},
    },
    "t5-1.1-base": {"gated": True, "own_outputs": True},  # published
    "longt5-base": {  # published; 4,096: the longest inputs of its pre-training
        **{"radius": 127, "global_block": 16, "source_tokens": 4096, "gated": True, "own_outputs": False}
    },
}


@pytest.mark.parametrize("name", STATED)
def test_a_preset_has_what_its_paper_states(name: str) -> None:
    found = sizes(name)
    assert {field: found[field] for field in STATED[name]} == STATED[name]


def test_each_number_of_the_data_has_a_source() -> None:
    """A comment beside it, or above its line."""
    table, lines = "", DATA.splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if line.startswith("["):
            table = line
        elif line.startswith("settings =") or (re.search(r"settings\]|recipe\]", table) and " = " in line):
            assert "  # " in line or before.startswith("# "), line


def test_every_part_of_the_data_is_used() -> None:
    document = tomllib.loads(DATA)
    kinds = document["parts"], document["presets"]
    used = {part for kind in kinds for table in kind.values() for part in table.get("of", ())}
    assert used == set(document["parts"])
    assert list(PRESETS) == list(document["presets"])


def test_presets_of_one_kind_say_the_same_of_their_differences() -> None:
    assert PRESETS["ptgen-cov"].differences.startswith(f"{PRESETS['ptgen'].differences}; ")
    assert PRESETS["hie-bart-small"].differences == PRESETS["hie-bart"].differences


def test_small_presets_say_so() -> None:
    small = {
        name
        for name, preset in PRESETS.items()
        if preset.settings.get("model_size")
        == (256 if preset.architecture in ("bart", "led", "t5", "longt5", "bertsum") else 128)
    }
    assert (
        small
        == {name for name in PRESETS if "small" in name}
        == {name for name, preset in PRESETS.items() if "for laptops" in preset.note}
    )


def test_a_search_and_a_training_have_what_the_papers_state() -> None:
    search, guidance = SearchSettings(), Guidance()
    assert (search.beam, search.normalisation, search.alpha) == (5, "wu", 0.4)  # Liu & Lapata 2019, sec. 4
    assert (search.min_length, search.max_length, search.block_ngrams) == (20, 400, 0)  # released
    assert search.length_exponent == 1.0  # Ma & Zong 2020, sec. 4.2
    assert (guidance.alignment, guidance.beta) == ("none", 0.8)  # Ma & Zong 2022, sec. 5.3
    assert TrainerSettings(steps=7).keep_best == 5  # Liu & Lapata 2019, sec. 4
    objective = TokenObjective(build_summarizer("ht-small", vocabulary_size=9), batch_tokens=1)
    assert objective.label_smoothing == 0.1  # Liu & Lapata 2019, sec. 4
    group = objective.optimizer().param_groups[0]
    assert (group["betas"], group["eps"]) == ((0.9, 0.998), 1e-9)  # released


def test_what_nobody_asked_for_is_off() -> None:
    search, training = SearchSettings(), TrainerSettings(steps=7)
    assert (search.block_recent, search.allow_unknown, search.as_transformers) == (0, False, False)
    assert (Guidance().coverage, Guidance().kept) == (0.0, None)
    off = ("clip_norm", "patience", "max_seconds")
    assert [getattr(training, field) for field in off] == [None] * 3
    assert (training.accumulation, training.validate_start, training.compile, training.seed) == (1, False, False, 0)
    assert (training.log_interval, training.validation_interval, training.max_skipped) == (50, 1000, 10)
    assert training.precision == "auto"
    for name in PRESETS:
        assert not sizes(name).get("copying"), "in none of the papers"
        assert not sizes(name).get("gradient_checkpointing")


def test_the_ranker_and_the_attention_predictor_have_what_their_papers_state() -> None:
    ranker, predictor = RankerConfig(vocabulary=9, pad=1), AttentionPredictorConfig()
    assert (ranker.embedding, ranker.hidden, ranker.dropout) == (256, 256, 0.2)  # Liu & Lapata 2019, sec. 4
    assert (predictor.layers, predictor.dropout, predictor.norm_epsilon) == (2, 0.5, 1e-6)  # Ma & Zong 2022, sec. 5.2


def test_a_configuration_has_no_default_for_what_a_corpus_decides() -> None:
    for architecture in ARCHITECTURES.values():
        first, second, *rest = fields(architecture.config)
        assert (first.name, second.name) == ("vocabulary_size", "pad")
        assert first.default is MISSING
        assert second.default == 0
        assert all(field.default is not MISSING for field in rest)
