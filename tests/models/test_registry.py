"""Presets by name, the parameter ledger, and configurations as JSON."""

import json

import pytest
import torch

from models.__main__ import count_parameters, describe, listing
from models.registry import ARCHITECTURES, PRESETS, build_summarizer, from_config_dict, to_config_dict

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
}


@pytest.mark.parametrize("preset", LEDGER)
def test_parameters_equal_the_ledger(preset: str) -> None:
    assert count_parameters(preset) == LEDGER[preset]
    assert PRESETS[preset].parameters == LEDGER[preset]


@pytest.mark.parametrize(
    ("preset", "expected", "distance"),
    [("t-dmca-3", 10_790_144, "(-1.2%)"), ("transformer-xl", 10_791_424, "(-0.7%)")],
)
def test_where_only_rounded_megabytes_were_published_the_distance_is_shown(
    preset: str, expected: int, distance: str
) -> None:
    # Neither paper says which further weights those systems had. T-DMCA by hand: 8,224,000 for words and their
    # biases, three layers of 789,760, one convolution of 3 x 256 x 256 + 256. Transformer-XL: the same words and
    # layers, and in each layer 256 x 256 for distances and two vectors of 256.
    assert expected in (8_224_000 + 3 * 789_760 + 196_864, 8_224_000 + 3 * (789_760 + 65_536 + 512))
    assert count_parameters(preset) == expected
    assert describe(PRESETS[preset].parameters, expected).endswith(distance)


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
    with pytest.raises(ValueError, match=r"Linear is no registered architecture"):
        to_config_dict(torch.nn.Linear(2, 2))


def test_listing_names_every_preset_and_its_size() -> None:
    lines = listing().splitlines()
    assert lines[0].split() == ["preset", "parameters", "ledger", "paper", "what", "it", "is"]
    named = {line.split()[0]: line for line in lines[1:] if not line.startswith(" ")}
    assert set(named) == {*PRESETS, "attention-predictor"}
    assert named["attention-predictor"].split()[1:3] == ["1,579,777", "1,579,777"]
    assert lines[1 + lines.index(named["t-dmca-3"])].strip().startswith("loss over input and target in training")
    assert named["ht-3-paper"].split()[1:6] == ["15,929,740", "15,929,740", "001", "sec.", "4.3"]


def test_a_count_off_the_ledger_is_shown_with_its_distance() -> None:
    assert describe(None, 5) == "-"
    assert describe(1_000, 1_000) == "1,000"
    assert describe((900, 1_100), 1_000) == "900-1,100"
    assert describe((900, 1_000), 1_010) == "900-1,000 (+1.0%)"
    assert describe((1_000, 1_100), 990) == "1,000-1,100 (-1.0%)"
