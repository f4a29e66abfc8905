"""Patterns looked for together: whatever `re` finds by itself is among the candidates."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.paragraphs.quality import marks
from tasks.text.pattern_sets import PatternSet

PATTERNS = [
    *map(re.compile, [r"\bed\.", r"\w\w@", r"[a-zà-öø-ÿ][A-Z]", r"a\s+b", r"\d{2}", "…$", r"\(.\)"]),
    re.compile(r"(?<!\W)(?>\W*?\?)\W*+$"),
    re.compile(r"\bpage\b", re.IGNORECASE),
]
TOGETHER = PatternSet(PATTERNS)
MARKS = [PatternSet(list(named.values())) for named in marks()]
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
@pytest.mark.parametrize("kind", [0, 1], ids=["folded", "exact"])
def test_so_is_each_mark_of_junk(kind, data):
    patterns = list(marks()[kind].values())
    text = data.draw(st.sampled_from(patterns).flatmap(st.from_regex))
    assert found(text, patterns) <= set(MARKS[kind].candidates(text))


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
