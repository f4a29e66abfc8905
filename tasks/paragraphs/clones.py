"""Clones: paragraphs that were copied from the article for which they should be a source.

The rule of Liu & Lapata 2019, sec. 4 reads a paragraph against the whole lead, so it sees a page that copied the lead
into one paragraph, and nothing else. Mirrors break lines where the article does: each of their paragraphs holds one
paragraph of the lead, and none holds 0.8 of it. The paper means to drop "copies of some parts", so the same rule is
applied to each paragraph of the lead as well. The other direction (a paragraph most of which occurs in the lead) is
there, but off: in real articles with long leads it finds quotations, where the lead copied the page."""

from collections.abc import Iterable, Sequence
from itertools import chain

from tasks.paragraphs.filter import ParagraphReason
from tasks.paragraphs.settings import CloneSettings
from tasks.text.ngrams import TargetNgrams, WordRule, split_words

LEAST_WORDS = 20  # of a part of the lead, or of what may be copied: headings and one-line quotations stay free


class LeadClones:
    """What was copied from one lead."""

    def __init__(
        self, lead: str, settings: CloneSettings, rule: WordRule = "rouge", least_words: int = LEAST_WORDS
    ) -> None:
        words = split_words(lead, rule)
        self.settings = settings
        self.rule = rule  # how texts are cut into words; paragraphs given to the methods must be cut by the same rule
        self.least_words = least_words  # of a part of the lead, or of what may be copied
        self._words = TargetNgrams(words, 1)
        self._bigrams = TargetNgrams(words, 2)
        parts = [split_words(part, rule) for part in lead.splitlines()]
        self._parts = [TargetNgrams(part, 2) for part in parts if len(part) >= least_words]
        self._smallest_part = min((part.total for part in self._parts), default=0)

    def reason(self, paragraph: Sequence[str]) -> str | None:
        """Return why a paragraph, given as words, is refused, or None: clone | clone_of_part | copied_from_lead."""
        matched = self._bigrams.matched(paragraph)
        if not matched:
            return None
        settings = self.settings
        if settings.recall is not None and matched / self._bigrams.total > settings.recall:
            return ParagraphReason.CLONE
        # No part can share more bigrams with the paragraph than the whole lead does: most paragraphs end here.
        if (
            settings.part_recall is not None
            and self._parts
            and matched / self._smallest_part > settings.part_recall
            and any(part.recall(paragraph) > settings.part_recall for part in self._parts)
        ):
            return ParagraphReason.CLONE_OF_PART
        if (
            settings.copied is not None
            and len(paragraph) >= self.least_words
            and matched / (len(paragraph) - 1) > settings.copied
        ):
            return ParagraphReason.COPIED_FROM_LEAD
        return None

    def is_clone(self, document: Iterable[Sequence[str]]) -> bool:
        """Return whether a document, given as the words of its paragraphs, repeats the lead; False where not asked."""
        threshold = self.settings.document
        return threshold is not None and self._words.recall(list(chain.from_iterable(document))) > threshold
