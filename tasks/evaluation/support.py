"""Whether texts support a sentence: by the verifier, or by another test with the same interface; and its values. Values
are necessary and not sufficient: texts with every name and number of a sentence may relate them differently. They say
what is missing where the verifier refuses a sentence."""

from collections.abc import Callable, Sequence

from models.values import Value, ValueIndex, find_values
from tasks.text.content_words import content_words, overlap
from tasks.verification.verifier import Support, Verifier

ENOUGH_WORDS = 0.5  # of the content words of a sentence without values

# Whether premises, taken together, support a sentence, as an entailment model may say; no premises support nothing.
SupportTest = Callable[[Sequence[str], str], bool]


class VerifiedSupport:
    """Support by the verifier: one premise says the sentence, or it is put together from two. `verifier`: of sentences;
    `title`: of the article, known to all."""

    def __init__(self, verifier: Verifier, title: str) -> None:
        self._verifier, self._title = verifier, title

    def __call__(self, premises: Sequence[str], sentence: str) -> bool:
        """Return whether the premises support the sentence; no premises support nothing."""
        found = self._verifier.finding(sentence, premises, self._title)
        return found.support in {Support.SAID, Support.COMBINED}


class ValueSupport:
    """Support by values: all names, numbers and dates of a sentence occur in the premises together. The article's title
    counts as part of every premise. A sentence without values other than the title's is supported if the premises
    contain half of its content words; words of the title count only if there are no others. `title`: of the article;
    `context`: texts on the same subject, to distinguish names at the start of a sentence from other words."""

    def __init__(self, title: str, context: ValueIndex | None = None) -> None:
        self._title, self._context = title, context
        self._known, self._title_words = ValueIndex([title]), content_words(title)

    def __call__(self, premises: Sequence[str], sentence: str) -> bool:
        """Return whether the premises, taken together, support the sentence; no premises support nothing."""
        if not premises:
            return False
        if values := self.values(sentence):
            return not self.missing(premises, values)
        premise_words = frozenset[str]().union(*map(content_words, premises))
        return overlap(self.words(sentence), premise_words) >= ENOUGH_WORDS

    def values(self, sentence: str) -> list[Value]:
        """Return the values of a sentence that are not in the title, so that they need a source."""
        return [value for value in find_values(sentence, self._context) if value not in self._known]

    def missing(self, premises: Sequence[str], values: Sequence[Value]) -> list[Value]:
        """Return the values that are neither in the premises nor in the title."""
        if not premises:
            return list(values)
        evidence = ValueIndex([self._title, *premises])
        return [value for value in values if value not in evidence]

    def words(self, sentence: str) -> frozenset[str]:
        """Return the content words of a sentence, without the title's unless it has no others."""
        words = content_words(sentence)
        return words - self._title_words or words
