"""The verifier on sentences whose truth is plain, and on texts that are none."""

from pathlib import Path

import numpy as np
import pytest

from tasks.verification.verifier import Support, Verifier, shipped

PASSAGE = (
    "Anna Berg designed the lighthouse in 1901. It was painted red in 1950 by Otto Lund. The tower is 45 metres tall "
    "and does not stand on rock. About 300 ships pass it each year. Repairs cost 1.2 million crowns."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Anna Berg designed the lighthouse in 1901.",
        "It was painted red in 1950 by Otto Lund.",
        "The tower is 45 metres tall and does not stand on rock.",
        "About 300 ships pass it each year.",
        "Repairs cost 1.2 million crowns.",
    ],
)
def test_what_a_passage_says_is_said(sentence: str) -> None:
    found = shipped().finding(sentence, ["Otters live in the river.", PASSAGE])
    assert (found.support, found.passages) == (Support.SAID, (1,))
    assert found.probability == shipped().probabilities([(sentence, PASSAGE)])[0]


def test_what_stands_there_word_for_word_is_said_whatever_stands_beside_it() -> None:
    copied = "Steam in the first half lets the crust open."
    passage = f"The loaf bakes for 45 minutes in all. {copied}"
    found = shipped().finding(copied, [passage], "Bread")
    assert (found.support, found.probability, found.passages) == (Support.SAID, 1.0, (0,))
    assert shipped().probabilities([("STEAM in the first half, lets the crust open", passage)])[0] == 1
    assert shipped().finding("Steam in the first half lets the lid open.", [passage]).support is Support.UNSUPPORTED


@pytest.mark.parametrize(
    "lie",
    [
        "Anna Berg Anna Berg designed the lighthouse in 1901.",
        "It was was painted red in 1950 by Otto Lund.",
        "Repairs cost 1.2 million crowns crowns crowns.",
    ],
)
def test_words_right_after_themselves_are_not_said(lie: str) -> None:
    assert shipped().probabilities([(lie, PASSAGE)])[0] == 0
    assert shipped().probabilities([(lie, f"{PASSAGE} {lie}")])[0] == 1


def test_words_that_may_stand_twice_and_those_that_do_in_the_passage_may_be_said() -> None:
    passage = "A new engine was put in in 2021, and the band Duran Duran played there in May."
    for sentence in ("A new engine was put in in 2021.", "The band Duran Duran played there in May."):
        assert shipped().finding(sentence, [passage]).support is Support.SAID


def test_the_passage_with_the_sentence_is_found_among_many_with_its_words() -> None:
    copied = "The tower fell in 1901."
    many = [f"In 1901 the tower of Borough {number} fell, rose and shook." for number in range(12)]
    assert shipped().finding(copied, [*many, copied]).passages == (12,)


@pytest.mark.parametrize(
    "lie",
    [
        "Repairs cost 1.2 billion crowns.",
        "Otto Lund designed the lighthouse in 1901.",
        "Anna Berg designed the lighthouse in 1910.",
        "It was painted red in 1901 by Otto Lund.",
        "It was not painted red in 1950 by Otto Lund.",
        "The tower is 45 metres tall and does stand on rock.",
        "The tower is 45 feet tall and does not stand on rock.",
        "300 ships pass it each year.",
        "Anna Berg designed the lighthouse in 1901, and otters live in the reeds.",
    ],
)
def test_a_lie_is_not_said(lie: str) -> None:
    assert shipped().finding(lie, [PASSAGE]).support is Support.UNSUPPORTED


def test_time_said_first_or_last_is_the_same() -> None:
    said = [
        ("The tower was built in 1847.", "In 1847 the tower was built."),
        ("It opened in May.", "The museum opened in May."),
    ]
    assert min(shipped().probabilities(said)) >= shipped().said_at
    assert shipped().probabilities([("It opened in June.", "The museum opened in May.")])[0] == 0


def test_what_two_passages_say_together_is_not_said_by_one() -> None:
    passages = ["The lighthouse was designed by Anna Berg.", "Otters live here.", "The lighthouse was lit in 1901."]
    found = shipped().finding("The lighthouse was designed by Anna Berg and was lit in 1901.", passages)
    assert (found.support, found.passages) == (Support.COMBINED, (0, 2))


def test_odd_texts_are_judged_without_an_error() -> None:
    odd = ["", " ", "?!", "tower", "高い塔です", "\x00", "12", "the of and"]
    long = PASSAGE * 700  # 100 kB
    found = shipped().probabilities([*((a, b) for a in odd for b in odd), ("tower", long), (long, "tower")])
    assert found.shape == (66,)
    assert np.all((found >= 0) & (found <= 1))
    assert shipped().probabilities([]).shape == (0,)


def test_without_passages_nothing_is_said() -> None:
    assert shipped().finding("Anna Berg designed the lighthouse.", []).support is Support.UNSUPPORTED
    assert shipped().finding("Anna Berg designed the lighthouse.", ["", "?"]).support is Support.UNSUPPORTED
    assert shipped().finding("", [PASSAGE]).support is Support.UNSUPPORTED


def test_a_script_without_capitals_is_not_judged() -> None:
    sentence = "灯台は1901年に建てられた。"
    found = shipped().finding(sentence, [sentence])
    assert (found.support, found.probability, found.passages) == (Support.UNJUDGED, 0.0, ())
    assert shipped().probabilities([(sentence, sentence)])[0] == 0


def test_a_saved_verifier_says_the_same(tmp_path: Path) -> None:
    pairs = [("Anna Berg designed the lighthouse.", PASSAGE), ("Otto Lund painted the tower.", PASSAGE)]
    shipped().save(tmp_path / "verifier.npz")
    again = Verifier.load(tmp_path / "verifier.npz")
    assert again.probabilities(pairs).tolist() == shipped().probabilities(pairs).tolist()
    assert again.said_at == shipped().said_at
