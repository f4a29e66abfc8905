"""Words that say what a sentence is about."""

from tasks.text.content_words import content_words, overlap


def test_function_words_are_left_out_in_any_case() -> None:
    assert content_words("The bridge, which WAS built there, is Old; Zürich's is not.") == {
        "bridge",
        "built",
        "old",
        "zürich",
    }


def test_overlap_is_the_share_of_the_first_words() -> None:
    assert overlap({"a", "b", "c", "d"}, {"a", "x"}) == 0.25
    assert overlap(set(), {"a"}) == 0.0
