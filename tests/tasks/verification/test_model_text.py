"""The measures for text of language models, and what they change."""

import numpy as np
import pytest

from tasks.verification.evidence import gather
from tasks.verification.model_text import model_text_measures, probability
from tasks.verification.verifier import Support, shipped
from tasks.verification.words import read

PASSAGE = (
    "Anna Berg designed the lighthouse in 1901. It was painted red in 1950 by Otto Lund. The tower is 45 metres tall "
    "and does not stand on rock."
)


def measured(sentence: str, *texts: str) -> np.ndarray:
    parsed = [read(text) for text in texts]
    evidence = gather(read(sentence), parsed, shipped().weigh)
    assert evidence is not None
    return model_text_measures(read(sentence), parsed, evidence)


def test_measures_by_hand() -> None:
    # Pairs: "the tower" and "tower is" are there, "is old", and "old stone" are not. "Old" and "stone" are new.
    shared, new, together, closest = measured("The tower is old stone.", PASSAGE)
    assert (shared, new) == (2 / 4, 2)
    assert 0 < closest == together < 1
    # Pairs may be of several passages; one sentence has "red", another one "45 metres".
    shared, new, together, closest = measured("Painted red, 45 metres tall.", *PASSAGE.split(". "))
    assert (shared, new) == (3 / 4, 0)
    assert closest < together == 1


def test_more_words_of_the_passage_are_likelier_said() -> None:
    def likely(sentence: str) -> float:
        parsed = read(PASSAGE)
        evidence = gather(read(sentence), [parsed], shipped().weigh)
        assert evidence is not None
        return probability(read(sentence), [parsed], evidence, 0.5)

    sentences = (
        "The tower is 45 metres tall.",
        "The imposing tower is 45 metres tall.",
        "The imposing tower, a beloved landmark, is 45 metres tall.",
    )
    assert sorted(map(likely, sentences), reverse=True) == list(map(likely, sentences))
    assert 0 <= likely(sentences[-1]) < likely(sentences[0]) <= 1


@pytest.mark.parametrize("by_model", [False, True])
def test_copies_are_said_and_other_values_are_not_whoever_writes(by_model: bool) -> None:
    def support(sentence: str) -> Support:
        return shipped().finding(sentence, [PASSAGE], by_model=by_model).support

    assert support("The tower is 45 metres tall and does not stand on rock.") is Support.SAID
    for lie in ("The tower is 54 metres tall.", "Otto Lund designed the lighthouse in 1950.", "It does stand on rock."):
        assert support(lie) is Support.UNSUPPORTED


def test_what_a_model_makes_of_the_words_of_a_passage_is_not_said() -> None:
    passage = (
        "Recent results have demonstrated the need for deeper text understanding methods. Moreover, the trace of the "
        "proofs provide answer justifications. The results show that the prover boosts the performance of the system."
    )
    made = "Additionally, the trace of the answers provides answer justifications, demonstrating the effectiveness."
    assert shipped().finding(made, [passage]).support is Support.SAID
    assert shipped().finding(made, [passage], by_model=True).support is Support.UNSUPPORTED
