"""Whether texts support a sentence: by the values in it, or by any other test of the same shape.

The test by values is necessary and not sufficient: texts that hold every name and number of a sentence may join them
otherwise. It needs no model, and its answer can be checked by eye.
"""

from collections.abc import Sequence
from typing import Protocol

from tasks.evaluation.values import Evidence, Value, find_values
from tasks.text.content_words import content_words, overlap

ENOUGH_WORDS = 0.5  # of the content words of a sentence without values


class Support(Protocol):
    """Says whether texts support a sentence, as an entailment model would."""

    def __call__(self, premises: Sequence[str], sentence: str) -> bool:
        """Return whether the premises, taken together, support the sentence; no premises support nothing."""
        ...


class ValueSupport:
    """Support by values: all names, numbers and dates of a sentence occur in the premises together.

    The article's title is known to every premise. A sentence without values beyond the title's is supported where
    the premises hold half of its content words, the title's not counted unless it has no others.

    Args:
        title: of the article.
        context: texts on the same matter, by which names that open a sentence are told from other words.
    """

    def __init__(self, title: str, context: Evidence | None = None) -> None:
        self._title, self._context = title, context
        self._known, self._title_words = Evidence([title]), content_words(title)

    def __call__(self, premises: Sequence[str], sentence: str) -> bool:
        """Return whether the premises, taken together, support the sentence; no premises support nothing."""
        if not premises:
            return False
        if values := self.values(sentence):
            return not self.missing(premises, values)
        held = frozenset[str]().union(*map(content_words, premises))
        return overlap(self.words(sentence), held) >= ENOUGH_WORDS

    def values(self, sentence: str) -> list[Value]:
        """Return the values of a sentence that the title does not hold: those which need a source."""
        return [value for value in find_values(sentence, self._context) if value not in self._known]

    def missing(self, premises: Sequence[str], values: Sequence[Value]) -> list[Value]:
        """Return the values that the premises and the title do not hold."""
        if not premises:
            return list(values)
        held = Evidence([self._title, *premises])
        return [value for value in values if value not in held]

    def words(self, sentence: str) -> frozenset[str]:
        """Return the content words of a sentence, without the title's unless it has no others."""
        words = content_words(sentence)
        return words - self._title_words or words
