"""The phrases found by way of their words, against one search for all of them."""

import re
import string
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.boilerplate_phrases import PHRASES, fold, is_boilerplate

PATTERNS = [pattern.replace("\\ ", " ") for _, pattern in PHRASES]
PLAIN = re.compile("|".join(PATTERNS), re.IGNORECASE)

TEXTS = [
    "The river rises on the moors, and its source was found in 1831; see the map of this page in his terms of travel.",
    "We use Cookies to personalise content, to share this story and to sign you up.",
    "“Accept all cookies”",
    "You Agree to our Terms & Conditions and the PRIVACY NOTICE of our partners",
    "Privacy Policy",
    "Copyright (c) 2019 by the County Courier. ALL RIGHTS RESERVED",
    "He copied the right to reserve all of it, and may not be right on facebook.",
    "Follow the Courier on Facebook, or like us on X!",
    "FOLLOW US ON ﬁRST SIGHT",
    "\u017fign up for our new\u017fletter",  # a long s, which is an s but for case
    "S\u0130gn up for our newsletter and w\u0131n",  # a capital i with a dot, and a small one without
    "Clic\u212a here",  # the sign of kelvin
    "Photo: Getty Images",
    "Getty Images lost its appeal against the ruling.",
    "Read more: the bridge that never was",
    "Tags : rivers",
    "Source: the county's records of 1894",
    "Sources of the river were long in doubt",
    "Please enable JavaScript, your browser doesn’t have it.",
    "Already a member? Log in to comment. Comments are closed.",
    "Crossref PubMed Google Scholar",
    "Consciousness. MIT Press. Cross Ref",
    "Make a donation of any size to keep the bridge.",
    "Delivered on Mondays to your inbox.",
    "Opt-out of the sale of your data; do not sell the bridge personally.",
]


@pytest.mark.parametrize("text", TEXTS)
def test_texts_as_by_one_search(text):
    assert is_boilerplate(text) == bool(PLAIN.search(text))


def test_texts_have_both_kinds():
    found = [text for text in TEXTS if PLAIN.search(text)]
    assert len(found) == 20  # counted by hand


@pytest.mark.parametrize(("words", "pattern"), PHRASES)
def test_whatever_matches_has_one_of_its_words(words, pattern):
    plain = re.sub(r"\.\{0,\d+\}", "(?: |, and )", pattern.replace("\\ ", " "))  # gaps that leave words whole

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
    @given(st.from_regex(re.compile(plain, re.IGNORECASE)))
    def check(text):
        assert any(word in fold(text) for word in words.split("|"))
        assert is_boilerplate(text)

    check()


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(sorted({word for text in TEXTS for word in text.split()})), max_size=30))
def test_shuffled_texts_as_by_one_search(words):
    text = " ".join(words)
    assert is_boilerplate(text) == bool(PLAIN.search(text))


def test_letters_that_differ_in_case_only_are_folded_into_one():
    characters = "".join(map(chr, range(sys.maxunicode + 1)))
    for letter in string.ascii_lowercase + "©&:().,-' ":
        same = re.findall(re.escape(letter), characters, re.IGNORECASE)
        assert letter in same and {fold(one) for one in same} == {letter}


def test_words_are_as_folded_text_has_them():
    assert all(word and word == fold(word) for words, _ in PHRASES for word in words.split("|"))
