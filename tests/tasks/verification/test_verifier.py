"""The verifier on sentences whose truth is plain."""

import numpy as np
import pytest

from tasks.verification.verifier import Support, shipped

PASSAGE = (
    "Anna Berg designed the lighthouse in 1901. It was painted red in 1950 by Otto Lund. The tower is 45 metres tall "
    "and stands 200 metres from the sea."
)


@pytest.mark.parametrize("sentence", ["Anna Berg designed the lighthouse in 1901.", "It was painted red in 1950."])
def test_what_a_passage_says_is_said(sentence: str) -> None:
    found = shipped().finding(sentence, ["Otters live in the river.", PASSAGE])
    assert (found.support, found.passages) == (Support.SAID, (1,))
    assert found.probability == shipped().probabilities([(sentence, PASSAGE)])[0]


@pytest.mark.parametrize("sentence", ["Anna Berg designed the lighthouse in 1910.", "The tower is 54 metres tall."])
def test_another_number_is_not_said(sentence: str) -> None:
    assert shipped().finding(sentence, [PASSAGE]).support is Support.UNSUPPORTED


def test_odd_texts_are_judged_without_an_error() -> None:
    long = PASSAGE * 700  # 100 kB
    odd = ["", " ", "?!", "tower", "高い塔です", "\x00", "12"]
    found = shipped().probabilities([(a, b) for a in [*odd, long] for b in [*odd, long]])
    assert found.shape == (64,)
    assert np.all((found >= 0) & (found <= 1))
    assert shipped().probabilities([]).shape == (0,)


def test_without_passages_nothing_is_said() -> None:
    assert shipped().finding("Anna Berg designed the lighthouse.", []).support is Support.UNSUPPORTED
    assert shipped().finding("", [PASSAGE]).support is Support.UNSUPPORTED


def test_a_script_without_capitals_is_not_judged() -> None:
    found = shipped().finding("灯台は1901年に建てられた。", ["灯台は1901年に建てられた。"])
    assert (found.support, found.probability, found.passages) == (Support.UNJUDGED, 0.0, ())
