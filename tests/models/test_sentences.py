"""Sentence splitting: boundaries, abbreviations, languages, and that no character is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.sentences import SPLITTERS, f1, joined, split_by_hand
from models.sentences import first_sentence, language_of, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n ", []),
        ("One river. Two rivers! Three rivers? Four.", ["One river.", "Two rivers!", "Three rivers?", "Four."]),
        ("Mr. Ash met Dr. J. R. Birch. They left.", ["Mr. Ash met Dr. J. R. Birch.", "They left."]),
        ("It rises 3.5 m. a year, i.e. slowly.", ["It rises 3.5 m. a year, i.e. slowly."]),
        ("He lived in the U.S. Army barracks.", ["He lived in the U.S. Army barracks."]),
        ('She said "No." Then she left.', ['She said "No."', "Then she left."]),
        ("A heading\nA line without a stop\n\nThe end.", ["A heading", "A line without a stop", "The end."]),
        ("Wait... Then it came.", ["Wait...", "Then it came."]),
        ("In 1990 it fell. 12 died.", ["In 1990 it fell.", "12 died."]),
        ("It fell.\n2. Open the menu. Save it.", ["It fell.", "2. Open the menu.", "Save it."]),
        ("He left. Łódź grew. Śląsk did not.", ["He left.", "Łódź grew.", "Śląsk did not."]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected
    assert first_sentence(text) == (expected[0] if expected else "")


@given(st.text(alphabet="ab AB.!?\n\"'", max_size=60))
def test_no_word_is_lost_or_moved(text: str) -> None:
    assert " ".join(split_sentences(text)).split() == text.split()


# The boundaries missed are those of "3,5 km. ¡Es", "3,5 км. Він" and of "……" before a sentence.
SEEN = dict.fromkeys(("en", "de", "fr", "pl", "cs", "el", "hi", "ar", "ur", "am", "km", "th"), 1.0)
SEEN |= dict.fromkeys(("es", "uk", "zh", "ja"), 0.96)
# "7 nov. 1867" is cut, and so is "W 1920 r. Polska".
UNSEEN = dict.fromkeys(("en", "de", "es", "cs", "uk", "ru", "el", "zh", "ja", "hi", "ar"), 1.0) | {
    "fr": 0.88,
    "pl": 0.88,
}
FILES = {"sentences.txt": SEEN, "sentences_unseen.txt": UNSEEN}


@pytest.mark.parametrize("splitter", ["language given", "language by the text"])
@pytest.mark.parametrize("name", FILES)
def test_boundaries_are_those_set_by_hand(name: str, splitter: str) -> None:
    reached = {language: f1(name, language, SPLITTERS[splitter]) for language in FILES[name]}
    assert [language for language, share in FILES[name].items() if reached[language] < share] == []


def test_what_was_split_by_hand() -> None:
    languages = {language for language, _ in split_by_hand("sentences.txt")}
    assert languages == set(SEEN) and len(languages) == 16
    assert sum(len(sentences) for _, sentences in split_by_hand("sentences.txt")) == 215


def test_the_text_tells_its_language() -> None:
    paragraphs = list(split_by_hand("sentences.txt"))
    assert [language_of(joined(*one)) for one in paragraphs] == [language for language, _ in paragraphs]
    assert [language_of(text) for text in ("", "12", "Madrid", "The Lord of the Rings", "東京タワー")] == [
        *("en", "en", "en", "en", "ja")
    ]


def test_no_sentence_ends_within_a_word() -> None:
    parts = ["Die Liste steht in der Datei NEWS.Debian-Rat und nicht im Heft.", "Der Rat hat sie dort."]
    assert split_sentences(" ".join(parts)) == parts


def test_a_thai_paragraph_is_kept_whole() -> None:
    text = "แม่น้ำสายนี้ยาวมาก ไหลผ่านเมืองใหญ่หลายแห่ง"
    assert split_sentences(text) == [text]


WRITTEN = st.lists(
    st.sampled_from([*"ab AB.!?\n\"'()1", "。", "」", "ß", "Ł", "д", "Д", "한", "۔", "ไ", "។", "हि", "\u2028"])
)


@given(WRITTEN.map("".join), st.sampled_from([None, "de", "ja", "ru", "km", "th", "xx"]))
def test_nothing_but_white_space_is_between_two_sentences(text: str, language: str | None) -> None:
    rest = text
    for sentence in split_sentences(text, language):
        assert sentence == sentence.strip() != ""
        between, _, rest = rest.partition(sentence)
        assert between.strip() == ""
    assert rest.strip() == ""


@given(st.text(max_size=80), st.sampled_from([None, "de", "ja", "ru", "km", "th"]))
def test_no_character_of_any_text_is_lost(text: str, language: str | None) -> None:
    assert "".join("".join(split_sentences(text, language)).split()) == "".join(text.split())
