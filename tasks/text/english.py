"""The commonest words of English, whose share tells running English prose from other text."""

from collections.abc import Sequence

_COMMONEST = """
    the of and to in a is that for it as was with be by on not he i this are or his from at which but have an had
    they you were their one all we can her has there been if more when will would who so no she about its than into
    could other only what do may some me these then did most any over such our even how also because where after
    between those while during under through before both being should does him my out up your
"""
FUNCTION_WORDS = frozenset(_COMMONEST.split())
# Share of the words of a text: below it no text of many words is English prose, above it none is in another language.
LEAST_SHARE = 0.25


def function_word_share(words: Sequence[str]) -> float:
    """Return the share (0-1) of the commonest English words among words in lower case; 0 of no words."""
    return sum(word in FUNCTION_WORDS for word in words) / max(1, len(words))
