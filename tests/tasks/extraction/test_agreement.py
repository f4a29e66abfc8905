import pytest

from tasks.extraction.engines import agreement


def test_worked_out_by_hand():
    texts = {
        "own": ["one two three", "four five"],
        "more": ["One two three four five six"],
        "none": ["alpha beta gamma"],
    }
    # own has 2 runs of four words, more has 3, of which 2 are own's; F at beta squared = 1/2
    assert agreement(texts) == {
        "own": pytest.approx((1.5 * 2 / (2 + 0.5 * 3)) / 2),
        "more": pytest.approx((1.5 * 2 / (3 + 0.5 * 2)) / 2),
        "none": 0.0,
    }


def test_repetitions_count():
    assert agreement({"once": ["a b c d"], "twice": ["a b c d", "b c d a b c d"]})["once"] == 1.5 / (1 + 0.5 * 8)


def test_scripts_without_spaces_are_compared_by_character():
    assert agreement({"one": ["大江大河水流"], "other": ["大江大河水长"]})["one"] == pytest.approx(2 / 3)


def test_equal_texts_agree_whatever_their_length_and_lines():
    lines = [f"word{number}" for number in range(50_000)]
    assert agreement({"lines": lines, "line": [" ".join(lines)]}) == {"lines": 1.0, "line": 1.0}


def test_one_text_agrees_with_nobody():
    with pytest.raises(ValueError, match=r"at least two texts, got \['own'\]"):
        agreement({"own": ["one two three four"]})


def test_a_run_that_both_repeat_counts_as_often_as_the_one_that_has_it_less():
    # `a b c d` twice and three times, no other run of four in both; 7 and 13 runs.
    found = agreement({"less": ["a b c d p a b c d q"], "more": ["r a b c d s a b c d t a b c d u"]})
    assert found == {"less": pytest.approx(1.5 * 2 / (7 + 0.5 * 13)), "more": pytest.approx(1.5 * 2 / (13 + 0.5 * 7))}
