"""What is known of sentences by where they stand and what they are like."""

import numpy as np

from tasks.extractive.pile import Pile, PilePassage, SentencePlaces


def test_likeness_goes_from_the_title_over_its_passages_to_other_sentences() -> None:
    pile = Pile(
        "Harrow Mill",
        [
            PilePassage("Harrow Mill grinds oats for Ostley. The wheel grinds slowly in winter.", "a"),
            PilePassage("A heavy wheel grinds oats in every season.", "b"),
            PilePassage("Otto Lind swam across the lake in June.", "c"),
        ],
    )
    title, its_passage, about, passage_about, source_about, own, others = SentencePlaces(pile).likeness.T
    assert title[0] > 0 and title[1:].tolist() == [0, 0, 0]
    assert its_passage[0] == its_passage[1] > 0 and its_passage[2:].tolist() == [0, 0]
    assert about[0] > about[2] > about[3]
    assert np.allclose(passage_about, source_about)  # each source has one passage
    assert own[2:].round(6).tolist() == [1, 1]
    assert own[0] < 1
    rows = {sentence: set(pile.sentences[sentence].tokens) for sentence in range(4)}
    assert rows[3] & (rows[0] | rows[1] | rows[2]) == {"the", "in"}
    assert others[2] > others[3] > 0


def test_likeness_is_defined_for_the_smallest_piles() -> None:
    assert SentencePlaces(Pile("Harrow Mill", [])).likeness.shape == (0, 7)
    alone = SentencePlaces(Pile("Harrow Mill", [PilePassage("Harrow Mill is a watermill.")])).likeness
    assert np.isfinite(alone).all()
