"""English by its words: the share of the commonest tells running prose, finite verbs (by form) tell sentences."""

import re
from collections.abc import Sequence

from tasks.engine.data_files import read_data

FUNCTION_WORDS = frozenset(read_data("tasks.text", "words.toml")["commonest"])
# Share of the words of a text: below it no text of many words is English prose, above it none is in another language.
LEAST_SHARE = 0.25


def function_word_share(words: Sequence[str]) -> float:
    """Return the share (0-1) of the commonest English words among words in lower case; 0 of no words."""
    return sum(word in FUNCTION_WORDS for word in words) / max(1, len(words))


_COMMON = re.compile(  # "may" in small letters alone, because May is a month
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|will|would|can|could|(?-i:may)|might|shall|should|must|\w+n['’]t"
    r"|became|began|came|went|took|made|gave|got|said|saw|won|lost|held|led|(?<!top )(?<!bottom )left|met|wrote|ran"
    r"|rose|fell|grew|kept|sent|spent|built|brought|thought|found|knew|drew|broke|chose|spoke|stood|fought|put|set|let|cut"
    r"|hit|becomes?|includes?|remains?|contains?|consists?|shows?|says?|uses?|makes?|gives?|takes?|follows?|appears?)\b",
    re.IGNORECASE,
)
_PAST = re.compile(  # unless it only describes what stands before it: "the lock, painted red", "a church built by"
    r"(?<!,)(?<!\b[Aa])(?<!\b[Aa]n)(?<!\b[Tt]he)\s"
    r"(?!(?:United|red|Red|based|located|used|called|named)\b)[a-z]+ed\b(?! (?:by|in|at|from)\b)"
)


def has_finite_verb(text: str) -> bool:
    """Tell whether a text has a finite verb. Rarer present forms ("herons nest") are missed: "no" is no proof."""
    return _COMMON.search(text) is not None or _PAST.search(text) is not None
