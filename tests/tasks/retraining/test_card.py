"""What a model card shows of a version."""

from storage.registry import Version
from tasks.retraining.card import model_card


def test_shares_are_shown_in_percent_and_ratios_as_they_are() -> None:
    scores = {"values": 0.5, "density": 3.25, "repeated-trigrams": 0.125}
    version = Version(1, "", "2026-W01", "b", None, {}, "", {}, scores, {"promoted": True, "reason": "the first"})
    card = model_card(version, {}, seconds=0, work_seconds=0).replace("\\", "")
    assert "| values F1 | 50.00 |" in card
    assert "| density | 3.25 |" in card
    assert "| repeated trigrams | 12.50 |" in card
