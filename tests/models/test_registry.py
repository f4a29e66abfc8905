"""Presets by name, the parameter ledger, and configurations as JSON."""

import json

import pytest
import torch

from models.__main__ import count_parameters, describe, listing
from models.presets import COPYING, PRESETS, SOURCE_LIMITED
from models.registry import ARCHITECTURES, build_summarizer, from_config_dict, to_config_dict


@pytest.fixture(scope="module")
def listed() -> str:
    return listing()


# SYSTEMS.md, parameter ledger: 32,000 words, d = 256, ff = 1,024.
LEDGER = {
    "ht": 15_343_952,
    "ht-checkpoint": 20_611_152,
    "ht-3": 15_770_060,
    "ht-3-8-heads": 15_745_016,
    "ht-3-paper": 15_929_740,
    "ft-3": 13_753_600,
    "pht": 15_201_536,
    "pht-1": 10_988_800,
    "vht": 14_544_640,
    # At the words of their tokenizers: Akiyama et al. 2021, sec. 4.2; with 4,096 positions; BART-base.
    "bart-large": 406_290_432,
    "hie-bart-16-0": 406_290_432,
    "hie-bart": 406_291_456,
    "hie-bart-8-8": 406_291_456,
    "hed-row-0": 412_582_912,
    "hed": 412_582_912,
    "bart-base": 139_420_416,
}


@pytest.mark.parametrize("preset", LEDGER)
def test_parameters_equal_the_ledger(preset: str) -> None:
    assert count_parameters(preset) == LEDGER[preset]
    assert PRESETS[preset].parameters == LEDGER[preset]


WORDS, LAYER = 32_000 * 257, 789_760  # shared embeddings with output biases; an encoder layer of FT
DECODER_ONLY = {
    # One convolution of three tokens for keys and values alike.
    "t-dmca-3": (131.1, WORDS + 3 * LAYER + 3 * 256 * 256 + 256),
    # A projection of distances and two vectors in each layer.
    "transformer-xl": (130.4, WORDS + 3 * (LAYER + 256 * 256 + 2 * 256)),
}


# See et al. 2017, sec. 5, at 50,000 words: 21,499,600, 1,153 more for p_gen, 512 more for coverage.
POINTERS = {
    "ptgen": sum(
        (
            50_000 * 128,  # words
            2 * 4 * 256 * (128 + 256 + 1),  # the encoder's two directions
            2 * (512 * 256 + 256),  # its last output and cell become the decoder's first
            (128 + 512) * 128 + 128,  # word and last context
            4 * 256 * (128 + 256 + 1),  # the decoder
            512 * 512 + (512 * 512 + 512) + 512,  # W_h, W_s with b_attn, v
            (256 + 512) * 256 + 256,  # V, b
            256 * 50_000 + 50_000,  # V', b'
            512 + 512 + 128 + 1,  # w_h*, w_s, w_x, b_ptr
        )
    )
}
POINTERS["ptgen-cov"] = POINTERS["ptgen"] + 512  # w_c


@pytest.mark.parametrize("preset", POINTERS)
def test_a_pointer_generator_has_the_published_parameters(preset: str) -> None:
    assert POINTERS[preset] == 21_499_600 + 1_153 + (512 if preset == "ptgen-cov" else 0)
    assert count_parameters(preset, 50_000) == POINTERS[preset]
    # 18,000 words less: a row of 128, a row of 256 and a bias each.
    assert count_parameters(preset) == PRESETS[preset].parameters == POINTERS[preset] - 18_000 * 385


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_the_decoder_only_systems_have_what_their_papers_describe(preset: str) -> None:
    assert count_parameters(preset) == DECODER_ONLY[preset][1]


@pytest.mark.parametrize("preset", DECODER_ONLY)
def test_their_published_megabytes_are_told_beside_the_readings(preset: str, listed: str) -> None:
    megabytes = DECODER_ONLY[preset][0]
    bounds = PRESETS[preset].parameters
    assert isinstance(bounds, tuple)
    # The fewest and the most weights of 12 bytes whose megabytes round to those of Ma & Zong 2022, Table 5.
    low, high = (round(1e6 * (megabytes + half)) for half in (-0.05, 0.05))
    assert bounds == (-(-low // 12), high // 12)
    left = [f"{count - WORDS - 3 * LAYER:,}" for count in bounds]
    assert f"{megabytes} MB leave {left[0]} to {left[1]} for" in PRESETS[preset].reading
    assert PRESETS[preset].reading in listed


@pytest.mark.parametrize(
    ("preset", "expected"), [("ht-3", 671_812), ("ht-3-8-heads", 663_464), ("ht-3-paper", 725_380)]
)
def test_parameters_of_one_global_layer(preset: str, expected: int) -> None:
    with_three = count_parameters(preset)
    with torch.device("meta"):
        model = build_summarizer(preset, vocabulary_size=32_000, global_layers=2)
    assert with_three - sum(parameter.numel() for parameter in model.parameters()) == expected


def test_every_preset_names_a_known_architecture() -> None:
    assert {preset.architecture for preset in PRESETS.values()} == set(ARCHITECTURES)


def test_configurations_are_json() -> None:
    model = build_summarizer("ht-small", vocabulary_size=40, pad=6, graph="discourse", dropout=0.0)
    config = json.loads(json.dumps(to_config_dict(model)))
    assert config["architecture"] == "hierarchical"
    assert config["graph"] == "discourse"
    assert from_config_dict(config).config == model.config
    assert from_config_dict(config, dropout=0.5).config.dropout == 0.5


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"unknown preset 'hat', expected one of: ht, ht-checkpoint"):
        build_summarizer("hat", vocabulary_size=10)
    with pytest.raises(ValueError, match=r"unknown field 'layers' for architecture 'hierarchical'.*local_layers"):
        build_summarizer("ht", vocabulary_size=10, layers=3)
    with pytest.raises(ValueError, match=r"unknown architecture None, expected one of: hierarchical"):
        from_config_dict({"vocabulary_size": 10})
    with pytest.raises(ValueError, match=r"Linear is not a registered architecture"):
        to_config_dict(torch.nn.Linear(2, 2))


def test_architectures_that_may_copy_have_a_field_for_it() -> None:
    can = {name for name, kind in ARCHITECTURES.items() if "copying" in kind.config.__dataclass_fields__}
    assert can == set(COPYING)


def test_architectures_that_read_so_many_tokens_have_a_field_for_it() -> None:
    limited = {name for name, kind in ARCHITECTURES.items() if "source_tokens" in kind.config.__dataclass_fields__}
    assert limited == set(SOURCE_LIMITED)


def test_listing_names_every_preset_and_its_size(listed: str) -> None:
    lines = listed.splitlines()
    assert lines[0].split() == ["preset", "parameters", "ledger", "paper", "what", "it", "is"]
    named = {line.split()[0]: line for line in lines[1:] if not line.startswith(" ")}
    assert set(named) == {*PRESETS, "attention-predictor"}
    assert named["attention-predictor"].split()[1:3] == ["1,579,777", "1,579,777"]
    assert lines[1 + lines.index(named["t-dmca-3"])].strip().startswith("loss over input and target in training")
    assert named["ht-3-paper"].split()[1:3] == ["15,929,740", "15,929,740"]
    assert "Ma & Zong 2020, sec. 4.3" in named["ht-3-paper"]


def test_a_count_off_the_ledger_is_shown_with_its_distance() -> None:
    assert describe(None, 5) == "-"
    assert describe(1_000, 1_000) == "1,000"
    assert describe((900, 1_100), 1_000) == "900-1,100"
    assert describe((900, 1_000), 1_010) == "900-1,000 (+1.0%)"
    assert describe((1_000, 1_100), 990) == "1,000-1,100 (-1.0%)"


@pytest.mark.parametrize("dropout", ["x", -1, 1, True])
@pytest.mark.parametrize("preset", ["ht-small", "ptgen-small", "bart-small"])
def test_a_dropout_that_is_none_is_named(preset: str, dropout: object) -> None:
    described = {**to_config_dict(build_summarizer(preset, vocabulary_size=40)), "dropout": dropout}
    with pytest.raises(ValueError, match=rf"expected dropout to be a number from 0 to below 1, got {dropout!r}"):
        from_config_dict(described)
