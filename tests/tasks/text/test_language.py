import pytest

from tasks.text.language import LANGUAGES, _identifier, language_probability, sure_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The river rises on the moors and runs east for forty miles to the sea.", "en"),
        ("Der Fluss entspringt im Moor und fließt vierzig Meilen nach Osten zum Meer.", "de"),
        ("Эта река начинается в болотах, течёт на восток через весь город и впадает в большое море.", "ru"),
        ("川は荒野に源を発し、東へ四十マイル流れて海に注いでいる。春には水があふれて、谷の牧草地まで届く。", "ja"),
    ],
)
def test_language_of_a_sentence(text: str, language: str) -> None:
    assert sure_language(text) == language


def test_no_model_is_asked_about_english_that_its_words_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.text.language._identifier", lambda: pytest.fail("the model was asked"))
    assert sure_language("The river rises on the moors and runs east for forty miles to the sea.") == "en"


def test_short_and_mixed_texts_have_no_sure_language() -> None:
    assert sure_language("The river rises on the moors.") is None  # 29 characters
    assert sure_language("11 Torres 31' 54' Goals 2 * Shots 2 * 2 Shots 0 19. / 28.") is None


def test_a_language_has_no_probability_where_related_ones_are_as_likely() -> None:
    chinese = "近日，河边的居民发现，水位比往年高了许多。"
    assert sure_language(chinese) is None
    assert language_probability(chinese, "en") == pytest.approx(0, abs=1e-6)
    assert language_probability(chinese, "zh") > 0.9  # with Cantonese and Wu
    assert language_probability("The river rises on the moors and runs east.", "en") > 0.9
    assert language_probability("Der Fluss entspringt im Moor.", "en") is None  # 29 bytes


def test_a_language_that_cannot_be_told_is_named() -> None:
    with pytest.raises(ValueError, match="'xx' is not a language that its letters show: expected one of ace, af"):
        language_probability("The river rises on the moors and runs east.", "xx")


def test_the_codes_are_those_of_the_model() -> None:
    assert {code for code, _ in _identifier().rank("The river rises.")} == LANGUAGES
