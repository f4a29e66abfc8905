"""Targets and summaries fit the positions that a decoder has learned, or are refused before work starts."""

import pytest

from models.presets import LEARNED_POSITIONS
from models.registry import ARCHITECTURES
from tasks.summarization.settings import SummarizerSettings, check_lengths

BART = SummarizerSettings(
    preset="bart-small", graph="none", copying=False, overrides={"max_positions": 40, "source_tokens": 40}
)


def test_the_architectures_with_learned_positions_are_listed() -> None:
    fields = {name: made.config.__dataclass_fields__ for name, made in ARCHITECTURES.items()}
    assert {
        name: found["max_positions"].default for name, found in fields.items() if "max_positions" in found
    } == LEARNED_POSITIONS


def test_a_summary_fits_its_decoder() -> None:
    check_lengths(BART, 40, "decoding.max_length")
    with pytest.raises(ValueError, match=r"decoding\.max_length needs 41 .* preset 'bart-small' has 40"):
        check_lengths(BART, 41, "decoding.max_length")
    check_lengths(SummarizerSettings(preset="ht-small"), 10_000, "decoding.max_length")
