"""Slots: which values of an article get one, and that texts come back as they were."""

import re
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from models.value_slots import LARGE, MIDDLE, NAMES, NO_SLOTS, SLOTS, SMALL, SUBJECT, YEARS, ValueSlots, fill

TITLE = "Marta Homansson (engineer)"
TEXTS = (
    "Marta Homansson (born 12 May 1874 in Tavil) was an engineer. Homansson built the Theath Bridge in 1901, which "
    "cost $1,200 and is 340 m long. The bridge is hers.",
    'Homansson’s home was "Tavil", a town of 5,300 people (Tavil’s port has 340 boats). In 1901 she left for Ludo.',
)
WORDS = (
    "Tavil",
    "the",
    "In",
    "Marta",
    "Homansson",
    "1874",
    "12",
    "(",
    ")",
    "$",
    '"',
    ",",
    ".",
    "'s",
    "-",
    "Ⰰ",
    "river",
)


POOLS = {"subject": SUBJECT, "names": NAMES, "years": YEARS, "small": SMALL, "middle": MIDDLE, "large": LARGE}


def pool_of(slot: str) -> str:
    return next(name for name, letters in POOLS.items() if slot in letters)


def slots_of(title: str, texts: Iterable[str], *known: str) -> ValueSlots:
    return ValueSlots(title, texts, known.__contains__)


def test_each_value_has_one_slot_wherever_it_stands() -> None:
    slots = slots_of(TITLE, TEXTS)
    pools = {text: pool_of(slot) for slot, text in slots.values.items()}
    assert pools == {
        "Marta Homansson": "subject",
        "Homansson": "subject",
        "Tavil": "names",
        "Theath Bridge": "names",
        "Ludo": "names",
        "1874": "years",
        "1901": "years",
        "12": "small",
        "340": "middle",
        "1,200": "large",
        "5,300": "large",
    }
    first, second = map(slots.cut, TEXTS)
    letter = {text: slot for slot, text in slots.values.items()}
    assert first.startswith(
        f"{letter['Marta Homansson']} (born {letter['12']} May {letter['1874']} in {letter['Tavil']})"
    )
    assert second.count(letter["Tavil"]) == 2
    assert "The bridge" in first
    assert not re.search(r"\d|Tavil|Ludo|Homansson", first + second)


def test_texts_come_back_as_they_were() -> None:
    slots = slots_of(TITLE, TEXTS)
    assert [fill(slots.cut(text), slots.values) for text in (TITLE, *TEXTS)] == [TITLE, *TEXTS]


@given(st.lists(st.sampled_from(WORDS), max_size=12), st.booleans())
def test_any_text_comes_back_but_for_letters_of_slots_and_spaces(words: list[str], spaced: bool) -> None:
    text = (" " if spaced else "").join(words)
    without = re.sub(f"[{''.join(SLOTS)}]", "", text)
    slots = slots_of(TITLE, [text])
    assert "".join(fill(slots.cut(text), slots.values).split()) == "".join(without.split())


def test_words_that_the_vocabulary_knows_stay_in_names() -> None:
    slots = slots_of(
        "River Tavil", ["The River Tavil meets the River Nilir Bos at Anna Bell’s.", "Anna left."], "River", "Anna"
    )
    named = {text: slot for slot, text in slots.values.items()}
    assert set(named) == {"Tavil", "Nilir Bos", "Bell"}
    text = slots.cut("The River Tavil meets the River Nilir Bos at Anna Bell’s.")
    assert text == f"The River {named['Tavil']} meets the River {named['Nilir Bos']} at Anna {named['Bell']}’s."
    assert pool_of(named["Tavil"]) == "subject"


def test_a_number_is_the_same_however_it_is_written() -> None:
    slots = slots_of("A town", ["It had 12,500 people.", "The 12500 people and 12,500 geese."])
    (slot,) = slots.values
    assert slots.values[slot] == "12,500"
    assert slots.cut("12500 of them") == f"{slot} of them"


def test_what_has_no_slot_stays_as_it_is() -> None:
    slots = slots_of("Ludo", ["Ludo lies near Tavil."])
    assert slots.cut("In 1874 Anna left Tavil-by-Ludo.") == "In 1874 Anna left Tavil-by-Ludo."
    many = [f"Name{chr(97 + a)}{chr(97 + b)} was there." for a in range(26) for b in range(26)]
    slots = slots_of("Ludo", ["They saw " + " and ".join(many[:200])])
    assert len(slots.values) <= len(NAMES) + len(SUBJECT)
    assert NO_SLOTS.cut("Ⰰ in 1874") == "Ⰰ in 1874"


def test_the_capital_of_a_sentence_alone_makes_no_name() -> None:
    slots = slots_of("Ludo", ["Rain fell. Ludo was wet. Scenes of Anna Bell followed. Anna laughed, said Anna."])
    assert set(slots.values.values()) == {"Ludo", "Anna Bell", "Anna"}


def test_slots_of_an_article_are_drawn_anew_for_another() -> None:
    texts = ["They met Anna, Berta, Cara and Dora in 1874, 1875, 1876 and 1877."]
    drawn = {tuple(slots_of(title, texts).values) for title in ("One", "Two", "Three")}
    assert len(drawn) == 3
    assert slots_of("One", texts).values == slots_of("One", texts).values
