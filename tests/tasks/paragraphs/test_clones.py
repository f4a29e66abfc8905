"""Clones by hand: what was copied from a lead, and what only shares words with it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.paragraphs.paragraphs import LEAST_WORDS, LeadClones
from tasks.paragraphs.settings import CloneSettings
from tasks.text.ngrams import TargetNgrams, split_words

LEAD = "a b c d e f g h i j k"  # ten bigrams
PAPER = CloneSettings(part_recall=None)


def reason(lead: str, paragraph: str, settings: CloneSettings, least_words: int = LEAST_WORDS) -> str | None:
    return LeadClones(lead, settings, least_words=least_words).reason(split_words(paragraph))


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        (LEAD, "clone"),
        ("Before it " + LEAD.upper() + ", and after.", "clone"),  # copied among other text, in capitals
        ("a b c d e f g h i j", "clone"),  # nine bigrams of ten
        ("a b c d e f g h i", None),  # eight of ten: 0.8 is not higher than 0.8
        ("k j i h g f e d c b a", None),  # the same words, no bigram
        ("", None),
    ],
)
def test_the_rule_of_the_paper(paragraph, expected):
    assert reason(LEAD, paragraph, PAPER) == expected


def test_repeated_bigrams_count_once():
    assert reason(LEAD, "a b " * 20, PAPER) is None


def test_a_mirror_that_copies_one_paragraph_of_the_lead():
    lead = "one two three four five six\nseven eight nine ten eleven twelve\nThe end"
    settings = CloneSettings()
    assert reason(lead, "One, two, three, four, five, six.", settings, 6) == "clone_of_part"
    assert reason(lead, "One, two, three, four, five, six.", settings) is None  # six words are no part of the real rule
    assert reason(lead, "One, two, three, four, five, six.", PAPER, 6) is None
    assert reason(lead, "nine ten eleven twelve and one two three", settings, 6) is None  # pieces of two parts
    assert reason(lead, "In the end it was over.", settings, 6) is None  # two words are no part


def test_a_quotation_of_the_lead_is_no_clone():
    assert reason(LEAD, "b c d e", CloneSettings(), 4) is None


def test_a_document_that_repeats_the_words_of_the_lead():
    halves = [["k", "j", "i"], ["h", "g", "f"]]  # 6 of 11 words
    assert LeadClones(LEAD, CloneSettings(document=0.5)).is_clone(halves)
    assert not LeadClones(LEAD, CloneSettings(document=0.5)).is_clone(halves[:1])
    assert not LeadClones(LEAD, CloneSettings()).is_clone([split_words(LEAD)])


@pytest.mark.parametrize("lead", ["", "word", "\n\n", "Привет, мир"])
def test_a_lead_without_bigrams_has_no_clones(lead):
    assert reason(lead, "word Привет, мир word", CloneSettings(), 2) is None


def test_other_scripts_need_the_unicode_rule():
    lead = "Москва есть столица России и её крупнейший город"
    clones = LeadClones(lead, PAPER, "unicode")
    assert clones.reason(split_words(lead, "unicode")) == "clone"


WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join)


@given(st.lists(WORDS, max_size=4).map("\n".join), WORDS, st.floats(0, 1), st.floats(0, 1))
def test_reasons_are_those_of_the_shares_counted_one_by_one(lead, paragraph, recall, part_recall):
    words = split_words(paragraph)
    parts = [TargetNgrams(split_words(part), 2) for part in lead.split("\n")]
    expected = None
    if any(part.total >= 2 and part.recall(words) > part_recall for part in parts):
        expected = "clone_of_part"
    if TargetNgrams(split_words(lead), 2).recall(words) > recall:
        expected = "clone"
    assert reason(lead, paragraph, CloneSettings(recall=recall, part_recall=part_recall), 3) == expected
