"""Content words of a sentence, and how many of them other texts contain."""

from collections.abc import Set

from tasks.text.ngrams import split_words

# English words that occur in any sentence; texts in other languages keep all their words.
_FUNCTION_LIST = """
    a about after again all also although always am among an and another any are as at be became because been before
    being between both but by can could did do does during each either every few for from further had has have having
    he her here hers him his how however i if in including into is it its itself just later many may me might more
    most much must my near no nor not of often on once one only or other others our out over own s same several she
    should since so some still such t than that the their them then there these they this those through thus to too
    under until up upon us very was we were what when where which while who whom whose why will with within without
    would you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_LIST.split())


def content_words(text: str) -> frozenset[str]:
    """Return the different words of a text, in lower case, without function words."""
    return frozenset(split_words(text, "unicode")) - FUNCTION_WORDS


def overlap(words: Set[str], others: Set[str]) -> float:
    """Return the share of `words` that are in `others`, 0-1; 0 without words."""
    return len(words & others) / len(words) if words else 0.0
