import pytest

from storage.page_columns import QUALITY_SIGNALS
from tasks.rights.text_columns import quality_signals, text_columns

LINES = ["The cost of the bridge was #1 of 1894.", "• Menu…", "• Menu…", "{ lorem ipsum }"]


def test_signals_counted_by_hand() -> None:
    signals = quality_signals(LINES)
    assert signals == pytest.approx(
        {
            "words": 9 + 2 + 2 + 4,
            "word_length": (30 + 6 + 6 + 12) / 17,
            "stop_words": 2,  # the, of
            "alphabetic": 1 - 6 / 17,  # without #1, 1894., two bullets and two brackets
            "symbols": 3 / 17,
            "bullets": 2 / 4,
            "ellipses": 2 / 4,
            "sentences": 1,
            "placeholders": 2,
            "ended": 1 / 4,
            "short": 3 / 4,
            "repeated": 7 / (38 + 7 + 7 + 15),
        }
    )
    assert list(signals) == list(QUALITY_SIGNALS)


def test_columns_of_a_text() -> None:
    found = text_columns(["Menu", "The river rises on the moors and runs to the sea.", "Write to a@b.org."])
    assert found["language"] == "en"
    assert found["quality"]["words"] == 15
    assert found["personal"] == {"emails": 1, "phones": 0, "ip_addresses": 0, "cards": 0, "accounts": 0}


def test_the_longest_paragraphs_tell_the_language() -> None:
    menu = ["Startseite", "Kontakt", "Impressum", "Über uns", "Datenschutz"] * 40
    assert text_columns([*menu, "The river rises on the moors and runs to the sea. " * 30])["language"] == "en"


def test_a_page_without_text_has_none_of_them() -> None:
    assert text_columns(()) == {"language": None, "quality": None, "personal": None}
