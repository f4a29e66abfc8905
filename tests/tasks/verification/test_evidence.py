"""Evidence for a sentence, gathered from several sentences."""

import numpy as np

from tasks.verification.evidence import PAIR_MEASURES, gather, measures, parted_numbers, shipped_forest
from tasks.verification.words import read


def even(word: str) -> float:
    return 1.0


def test_sentences_are_gathered_that_together_hold_the_words() -> None:
    passages = [read("The tower opened in 1874. It rained."), read("Anna Lee designed the tower.")]
    evidence = gather(read("Anna Lee designed the tower, which opened in 1874."), passages, even)
    assert evidence is not None
    assert evidence.sentences[:2] == ((1, 0), (0, 0))  # four words, then the two that are missing
    assert evidence.coverage() == 1
    assert evidence.needed() == [(1, 0), (0, 0)]


def test_a_sentence_that_adds_little_is_not_needed() -> None:
    passages = [read("Anna Lee designed the tower in Leeds for the town in 1874."), read("The old tower.")]
    evidence = gather(read("Anna Lee designed the tower in Leeds for the town in 1874."), passages, even)
    assert evidence is not None
    assert evidence.needed() == [(0, 0)]


def test_there_is_none_without_a_shared_word() -> None:
    assert gather(read("The tower leans."), [read("It rained.")], even) is None
    assert gather(read("The tower leans."), [], even) is None


def test_a_missing_name_is_noticed() -> None:
    sentence = read("Anna Lee designed the tower for Bob Ray.")
    evidence = gather(sentence, [read("Anna Lee designed the tower.")], even)
    assert evidence is not None
    assert evidence.lacks_values(sentence)


def test_measures_are_what_the_shipped_forest_reads() -> None:
    sentence = read("The tower opened in 1874.")
    evidence = gather(sentence, [read("The tower opened in 1874. It rained.")], even)
    assert evidence is not None
    row = measures(sentence, evidence, [1.0, 1.0, *np.zeros(len(PAIR_MEASURES))])
    assert 0 < shipped_forest().predict(row[None])[0] < 1
    assert np.isfinite(row).all()


def test_a_number_stays_with_its_unit() -> None:
    passages = [read("Repairs cost 12,000 crowns."), read("The tower is 45 metres high.")]
    for text, parted in (("The tower is 12,000 metres high.", True), ("The tower is 45 metres high.", False)):
        evidence = gather(read(text), passages, even)
        assert evidence is not None
        assert parted_numbers(read(text), evidence) is parted
