"""True restatements, as rules make them of one sentence."""

import pytest

from tasks.engine.dice import Dice
from tasks.verification.restatements import KINDS, in_synonyms, restatements

LONG = "In 1901, the Kestrel Tower (45 metres) was built by Anna Berg, who sold ten ships."


@pytest.mark.parametrize(
    ("kind", "sentence", "restated"),
    [
        ("unchanged", LONG, LONG),
        ("shortened", LONG, "In 1901, the Kestrel Tower was built by Anna Berg, who sold ten ships."),
        ("shortened", LONG, "The Kestrel Tower (45 metres) was built by Anna Berg, who sold ten ships."),
        ("shortened", LONG, "In 1901, the Kestrel Tower (45 metres) was built by Anna Berg."),
        ("moved", LONG, "The Kestrel Tower (45 metres) was built by Anna Berg, who sold ten ships in 1901."),
        ("pronoun", "The Tower was built by Anna Berg.", "He was built by Anna Berg."),
        ("digits", LONG, "In 1901, the Kestrel Tower (45 metres) was built by Anna Berg, who sold 10 ships."),
        ("active", "The Tower was built by Anna Berg.", "Anna Berg built the Tower."),
        ("fused", "The Tower was built by Anna Berg.", "The Tower was built by Anna Berg and was painted red."),
        ("fused", "The Tower was built by Anna Berg.", "The Tower was painted red."),
    ],
)
def test_a_kind_of_restatement(kind: str, sentence: str, restated: str) -> None:
    assert restated in list(KINDS[kind](sentence, "It was painted red.", Dice(2)))


def test_a_main_clause_is_never_taken_for_an_aside() -> None:
    assert not any(made.startswith("In 1901 who") for made in KINDS["shortened"](LONG, "", Dice(2)))


def test_synonyms_replace_words_of_their_ending_and_no_names() -> None:
    changed = {in_synonyms("The Field was demolished quickly.", Dice(seed)) for seed in range(9)}
    assert "The Field was destroyed quickly." in changed or "The Field was razed quickly." in changed
    assert all(made.startswith("The Field was ") for made in changed)


def test_at_most_one_of_each_kind_and_none_of_three_words() -> None:
    kinds = [kind for kind, _ in restatements(LONG, "", Dice(1))]
    assert len(kinds) == len(set(kinds))
    assert list(restatements("It was red.", "", Dice(1))) == []
