"""Whether a line is a sentence that can be read outside its page, by signs in its words: for extractive summaries."""

import re

from tasks.text.english import has_finite_verb

# A beginning that points back to a sentence before it, or belongs to a page's furniture.
_POINTS_BACK = re.compile(
    r"""["'“‘(]*(?:
    he|she|it|they|this|that|these|those|here|there|such|his|her|its|their|both|another|others?|some|which|who|what|
    why|how|and|but|or|so|yet|still|also|then|thus|therefore|hence|instead|however|moreover|furthermore|meanwhile|
    nevertheless|nonetheless|additionally|otherwise|similarly|likewise|indeed|in\ addition|as\ such|for\ example|
    for\ instance|as\ a\ result|of\ course|in\ short|that\ said|when\ asked|no|yes|ok|okay|well|now|today|yesterday|
    image|photo|picture|video|source|see|reply|update|read|watch|click|sign|subscribe|note
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TALKS = re.compile(r"\b(?:I|me|my|mine|[Yy]ou|[Yy]ours?)\b")  # not we: papers and companies call themselves so
_MARKUP = re.compile(r"https?:|www\.|@|[*|•]|\bReply\b")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"))
_MOST_WORDS = 60
_MOST_FIGURES = 0.4  # of the words; a row of a table has more
# Of the words. On the training articles of wikigraph, nearly all lines with more capitals and no verb that is known are
# affiliations, titles and references, and of those with fewer most are sentences.
_MOST_CAPITALS = 0.6
_OPENING = "“‘\"'(["


def defects(sentence: str) -> int:
    """Return how many signs a sentence shows that it needs its page: 0 for one that stands alone.

    It points back, talks to somebody, has marks of a page, opens a bracket or quotation that it does not close, asks,
    is mostly figures, or has over 60 words.
    """
    words = sentence.split()
    unpaired = sentence.count('"') % 2 or any(sentence.count(a) != sentence.count(b) for a, b in _PAIRS)
    signs = (
        _POINTS_BACK.match(sentence),
        _TALKS.search(sentence),
        _MARKUP.search(sentence),
        unpaired,
        sentence.endswith("?"),
        sum(any(map(str.isdigit, word)) for word in words) > _MOST_FIGURES * len(words),
        len(words) > _MOST_WORDS,
    )
    return sum(map(bool, signs))


def is_list(line: str) -> bool:
    """Tell whether a line is an affiliation, a title, a reference or the like: names and figures without a verb."""
    words = line.split()
    capitals = sum(not word.lstrip(_OPENING)[:1].islower() for word in words)
    return capitals > _MOST_CAPITALS * len(words) and not has_finite_verb(line)
