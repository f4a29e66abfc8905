import pytest

from tasks.text.language import sure_language


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


def test_short_and_mixed_texts_have_no_sure_language() -> None:
    assert sure_language("The river rises on the moors.") is None  # 29 characters
    assert sure_language("11 Torres 31' 54' Goals 2 * Shots 2 * 2 Shots 0 19. / 28.") is None
