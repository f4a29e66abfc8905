"""Words, n-grams and common subsequences, against rouge-score and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score import rouge_scorer, tokenize

from tasks.text.ngrams import TargetNgrams, lcs_length, split_words, stem

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=30)
# Letters whose lower case is or holds ASCII, letters that vanish, whitespace that is not ASCII, a lone surrogate.
ODD_TEXT = st.text(st.one_of(st.characters(), st.sampled_from("İKKſßÅéaZ09_-' \t\n\x1c\x85\u2028\u00a0\ud800")))


@given(ODD_TEXT)
def test_words_are_those_of_rouge_score(text):
    assert split_words(text) == tokenize.tokenize(text, None)


def test_words_by_the_paper_and_by_unicode():
    text = "Zürich's U-Bahn, 1990"
    assert split_words(text) == ["z", "rich", "s", "u", "bahn", "1990"]
    assert split_words(text, "unicode") == ["zürich", "s", "u", "bahn", "1990"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Москва — столица", ["москва", "столица"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs and virama belong to the word
        ("東京は首都。", ["東", "京", "は", "首", "都"]),
        ("東京Tower 3", ["東", "京", "tower", "3"]),
        ("Zu\u0308rich", ["z\u00fcrich"]),  # composed and decomposed letters are one word
        ("ที่นี่", ["ที่", "นี่"]),  # a Thai character keeps its vowel sign and tone mark
        ("snake_case", ["snake", "case"]),
    ],
)
def test_unicode_words_keep_other_scripts(text, words):
    assert split_words(text, "unicode") == words


@given(st.text(st.characters(max_codepoint=127)))
def test_both_rules_agree_on_ascii(text):
    assert split_words(text, "unicode") == split_words(text)


def test_an_unknown_rule_is_named():
    with pytest.raises(ValueError, match="unknown word rule 'french'"):
        split_words("a", "french")  # type: ignore[arg-type]


def test_matches_are_clipped_at_the_target():
    target = TargetNgrams(list("ababc"), 2)  # ab ba ab bc
    paragraph = list("abxabxab")  # three times ab: two of them count
    assert (target.total, target.matched(paragraph)) == (4, 2)
    assert target.recall(paragraph) == 0.5


def test_texts_without_ngrams_score_zero():
    assert TargetNgrams([], 2).recall(["a", "b"]) == 0.0
    assert TargetNgrams(["a"], 2).recall(["a"]) == 0.0


@given(WORDS, WORDS, st.integers(1, 4))
def test_recall_is_that_of_rouge_score(target, paragraph, n):
    name = f"rouge{n}"
    expected = rouge_scorer.RougeScorer([name]).score(" ".join(target), " ".join(paragraph))[name]
    ngrams = TargetNgrams(target, n)
    assert ngrams.recall(paragraph) == expected.recall


@pytest.mark.parametrize(
    ("a", "b", "length"),
    [("abcbdab", "bdcaba", 4), ("abc", "abc", 3), ("abc", "", 0), ("abc", "def", 0), ("aaa", "aa", 2)],
)
def test_common_subsequences_by_hand(a, b, length):
    assert lcs_length(list(a), list(b)) == length


@given(st.lists(st.sampled_from("abcd"), max_size=90), st.lists(st.sampled_from("abcde"), max_size=90))
def test_common_subsequences_are_those_of_the_usual_table(a, b):
    row = [0] * (len(b) + 1)
    for word in a:
        previous = row
        row = [0]
        for place, other in enumerate(b):
            row.append(previous[place] + 1 if word == other else max(previous[place + 1], row[place]))
    assert lcs_length(a, b) == lcs_length(b, a) == row[-1]


def test_short_words_keep_their_form() -> None:
    assert [stem(word) for word in ("ran", "runs", "running", "was")] == ["ran", "run", "run", "was"]
