"""True restatements, as rules make them of one sentence."""

from itertools import chain

import pytest

from tasks.engine.hashing import Dice
from tasks.verification.restatements import KINDS, in_phrases, restatements
from tasks.verification.words import BOUND_OF, phrases

LONG = "In 1901, the Kestrel Tower (45 metres) was built by Anna Berg, who sold ten ships."


@pytest.mark.parametrize(
    ("kind", "sentence", "restated"),
    [
        ("unchanged", LONG, LONG),
        ("shortened", LONG, "In 1901, the Kestrel Tower was built by Anna Berg, who sold ten ships."),
        ("shortened", LONG, "The Kestrel Tower (45 metres) was built by Anna Berg, who sold ten ships."),
        ("shortened", LONG, "In 1901, the Kestrel Tower (45 metres) was built by Anna Berg."),
        ("shortened", "The Tower, which was built by Berg, is red.", "The Tower is red."),
        ("clause", "The Tower, which was built by Berg, is red.", "The Tower was built by Berg."),
        ("clause", "Anna Berg, a Norwegian smith, was paid ten crowns.", "Anna Berg was a Norwegian smith."),
        ("clause", "Anna Berg was born here and moved to Oslo.", "Anna Berg moved to Oslo."),
        ("clause", "Ships are built here and painted red.", "Ships are painted red."),
        ("moved", "In 1901, the Tower was built.", "The Tower was built in 1901."),
        ("moved", "The tower was built in 1901.", "In 1901 the tower was built."),
        ("moved", "Anna Berg was born in Oslo in May 1901.", "Anna Berg was born in May 1901 in Oslo."),
        ("pronoun", "The Tower was built by Anna Berg.", "It was built by Anna Berg."),
        ("digits", LONG, "In 1901, the Kestrel Tower (45 metres) was built by Anna Berg, who sold 10 ships."),
        ("digits", "Anna Berg sold 10 ships.", "Anna Berg sold ten ships."),
        ("turned", "The Tower was built by Anna Berg.", "Anna Berg built the Tower."),
        ("turned", "Anna Berg built the two towers in 1901.", "The two towers were built by Anna Berg in 1901."),
        ("turned", "It has a tower, which was built in 1901.", "It has a tower, built in 1901."),
        ("turned", "It was the house of Anna Berg.", "It was Anna Berg's house."),
        ("fused", "The Tower was built by Anna Berg.", "The Tower was built by Anna Berg and was painted red."),
        ("fused", "The Tower was built by Anna Berg.", "The Tower, which was painted red, was built by Anna Berg."),
        ("fused", "The Tower was built by Anna Berg.", "The Tower was painted red."),
        ("fused", "Anna Berg built the Tower.", "Anna Berg built the Tower and it was painted red."),
    ],
)
def test_a_kind_of_restatement(kind: str, sentence: str, restated: str) -> None:
    made = (KINDS[kind](sentence, "It was painted red.", Dice(seed)) for seed in range(4))
    assert restated in set(chain(*made))


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("moved", "In 1901, the Tower was built by Berg, who sold ships."),  # she did not sell them in 1901
        ("moved", "Berg said that the Tower was built in 1901."),
        ("pronoun", "The tower designed by Berg is red."),
        ("pronoun", "Strongly influenced by Berg, it was red."),
        ("clause", "Berg said the Tower and the bridge were red."),
        ("clause", "In Norway, the land of Berg, was a red ship."),
        ("clause", "The man who sold Berg, a smith, was red."),
        ("turned", "The tower that was old was built by Anna Berg."),
    ],
)
def test_what_would_say_something_else_is_not_made(kind: str, sentence: str) -> None:
    assert list(KINDS[kind](sentence, "", Dice(1))) == []


def test_a_main_clause_is_never_taken_for_an_aside() -> None:
    assert not any(made.startswith("In 1901 who") for made in KINDS["shortened"](LONG, "", Dice(2)))


def test_phrases_are_replaced_as_they_stand_and_names_are_not() -> None:
    sentence = "Trains relocated to the Field because of rain on the whole."
    changed = {in_phrases(sentence, Dice(seed)) for seed in range(60)}
    assert "Trains moved to the Field owing to rain on the whole." in changed
    assert all("the Field" in made and made.endswith(" rain on the whole.") for made in changed)


@pytest.mark.parametrize(
    ("sentence", "restated"),
    [
        ("It has more than 5 ships.", {"It has over 5 ships."}),
        ("It has more than £5.", {"It has over £5."}),
        ("It was more than one could say.", set()),
        ("Although it rained, he came.", {"Though it rained, he came."}),
        ("It rained, yet he came.", {"It rained, but he came."}),
        ("It was self-defeating.", set()),  # nor within words joined by hyphens, nor before an apostrophe
        ("The film's end is red.", set()),
        ("An often red tower, an often told tale.", set()),  # "an frequently"
        ("They have the need to sell, and don't have to.", set()),
        ("A firm hand, the use of force, as they like.", set()),
    ],
)
def test_phrases_fit_what_stands_around_them(sentence: str, restated: set[str]) -> None:
    assert {in_phrases(sentence, Dice(seed)) for seed in range(20)} - {sentence} == restated


def test_no_phrase_bounds_or_negates_more_than_those_it_may_replace() -> None:
    classes = {
        phrase: [BOUND_OF[word] for word in phrase.split() if BOUND_OF.get(word) in {"only", "maybe", "all"}]
        for group in phrases().items()
        for phrase in (group[0], *group[1])
    }
    assert all(classes[phrase] == classes[other] for phrase, others in phrases().items() for other in others)


def test_at_most_one_of_each_kind_and_none_of_three_words() -> None:
    kinds = [kind for kind, _ in restatements(LONG, "", Dice(1))]
    assert len(kinds) == len(set(kinds))
    assert list(restatements("It was red.", "", Dice(1))) == []
