"""Patterns looked for together: whatever `re` finds by itself is among the candidates."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.paragraphs.quality import PatternSet, mark_candidates, mark_set, marks
from tasks.text.boilerplate_phrases import fold

PATTERNS = [
    *map(re.compile, [r"\bed\.", r"\w\w@", r"[a-zà-öø-ÿ][A-Z]", r"a\s+b", r"\d{2}", "…$", r"\(.\)"]),
    re.compile(r"(?<!\W)(?>\W*?\?)\W*+$"),
    re.compile(r"\bpage\b", re.IGNORECASE),
]
TOGETHER = PatternSet(PATTERNS)
_, MARKS = mark_set()
PIECES = [
    "ed.",
    "é",
    "я",
    "日",
    "٣",
    "½",
    "_",
    "A",
    "a",
    "b",
    " ",
    "\u00a0",
    "\u2009",
    "\x1c",
    "…",
    "’",
    "‑",
    "?",
    "÷",
    "\n",
]
PIECES += ["@", "(", ")", "PAGE", "7", "ß", "🙂", ".", "”"]


def found(text: str, patterns: list[re.Pattern[str]]) -> set[int]:
    return {number for number, pattern in enumerate(patterns) if pattern.search(text)}


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_what_a_pattern_finds_is_among_the_candidates(text):
    assert found(text, PATTERNS) <= set(TOGETHER.candidates(text))


@given(st.data())
def test_so_is_each_mark_of_junk(data):
    text = data.draw(st.sampled_from([mark for mark, *_ in MARKS]).flatmap(st.from_regex))
    for written in (text, text.upper(), text.replace("i", "İ").replace("s", "ſ").replace("k", "\u212a")):
        read = {True: fold(written), False: written}
        marked = {number for number, (mark, folded, *_) in enumerate(MARKS) if mark.search(read[folded])}
        assert marked <= set(mark_candidates(written))


def test_a_mark_at_the_end_of_a_text_that_begins_with_figures_is_found():
    text = "19 lock central central water by his gates water a by river our"  # the automaton's fault with look-behinds
    speaks = [mark for mark, *_ in MARKS].index(marks()[1]["speaks"])
    assert speaks in mark_candidates(text)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", set()),
        ("The Page is 12 lines, ed. Smith", {0, 4, 8}),
        ("naïveTé", {2}),  # a letter of another script than ASCII before a capital
        ("préed.", set()),  # no word begins within one
        ("Why ?  ", set()),  # before which a sign stands
    ],
)
def test_most_texts_have_few_candidates(text, numbers):
    assert set(TOGETHER.candidates(text)) - {7} == numbers


def test_each_candidate_is_named_once():
    assert sorted(TOGETHER.candidates("page ed. page ed.")) == [0, 8]


def test_threads_search_at_once():
    texts = ["ed. page 12 " * count for count in range(1, 200)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(TOGETHER.candidates, texts)) == [TOGETHER.candidates(text) for text in texts]
