"""Words as written, in scripts with and without spaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.words import is_beyond_latin, is_caseless, written_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("The U.S. Army, in 1990.", ["The", "U.S.", "Army,", "in", "1990."]),
        ("Über 3,5 km.", ["Über", "3,5", "km."]),
        ("这座桥长3.5公里。", ["这", "座", "桥", "长", "3.5", "公", "里。"]),
        ("กิน ok", ["กิ", "น", "ok"]),
        ("한국어 문장", ["한국어", "문장"]),
    ],
)
def test_words_as_written(text: str, words: list[str]) -> None:
    assert written_words(text) == words


@given(st.text())
def test_no_character_is_lost(text: str) -> None:
    assert "".join(written_words(text)) == "".join(text.split())


def test_alphabets() -> None:
    assert [
        is_beyond_latin(text) for text in ("", "Łódź", "Tokyo (東京) is", "Москва", "東京 Tokyo", "東京タワー x")
    ] == [*(False, False, False, True, False, True)]
    assert [is_caseless(letter) for letter in "aAß京ह1."] == [False, False, False, True, True, False, False]
