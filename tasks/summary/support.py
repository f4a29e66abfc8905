"""Whether the cited passages say what a sentence says: tested on the sentence of each that is closest to it.

A passage may hold every name and number of a sentence and yet say something else, so two things must be there in the
closest sentences, which people see marked: all names, numbers and dates, and most of the other words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from models.sentences import split_sentences
from models.values import Value
from tasks.evaluation.citations import Verdict, written
from tasks.evaluation.support import ValueSupport
from tasks.text.content_words import content_words, overlap

# Chosen on 599 sentences that the demo's summarizer wrote for the validation articles of one mini web: of those with
# all values in the passages 58 % were true, of those that also pass this test 76 %, of the others 27 %. At .7 it were
# 82 and 45 %.
ENOUGH_WORDS = 0.6
_STEM = 5  # letters that words have in common if they are forms of one word: works in many languages, needs no list


@dataclass(frozen=True)
class Judged:
    """How well a sentence is supported.

    Attributes:
        verdict: supported | partly: passages are cited, yet something is missing | not supported: none is cited.
        quotes: of each passage, the sentence that is closest to it.
        missing: names, numbers and dates that the quotes do not contain, as written in the sentence.
        words: share of its words that the quotes contain, 0-1.
        tested: what was looked for and found, in a few words for people.
        said: whether one passage says it: its quote alone holds all names, numbers and dates and most of the words.
            What is put together from several passages may not be true although each part is.
    """

    verdict: Verdict
    quotes: tuple[str, ...]
    missing: tuple[str, ...]
    words: float
    tested: str
    said: bool = False


def judge(support: ValueSupport, claim: str, passages: Sequence[str]) -> Judged:
    """Test a sentence.

    Args:
        support: tells the values and words of a sentence that need a source: not those of the title.
        claim: the sentence.
        passages: the paragraphs that are cited for it.
    """
    words = _stems(support.words(claim))
    quotes = tuple(closest_sentence(passage, words) for passage in passages)
    share = overlap(words, _stems(word for quote in quotes for word in content_words(quote)))
    values = support.values(claim)
    missing = tuple(written(value, claim) for value in support.missing(quotes, values))
    if not passages:
        return Judged("not supported", (), missing, 0.0, "no passage has its names, numbers or half of its words")
    verdict: Verdict = "supported" if not missing and share >= ENOUGH_WORDS else "partly"
    if missing:
        looked_for = f"not found: {', '.join(missing)}"
    else:
        looked_for = "names and numbers found" if values else "no names or numbers to look for"
    said = any(_said(support, values, words, quote) for quote in quotes)
    return Judged(verdict, quotes, missing, share, f"{looked_for}; {int(100 * share)} % of its words found", said)


def _said(support: ValueSupport, values: Sequence[Value], stems: frozenset[str], quote: str) -> bool:
    """Tell whether a sentence of a source says a sentence, of which these are the values and words.

    A verifier that knows more than values and words takes the place of this function.
    """
    return not support.missing([quote], values) and overlap(stems, _stems(content_words(quote))) >= ENOUGH_WORDS


def closest_sentence(text: str, stems: frozenset[str]) -> str:
    """Return the sentence of a paragraph that has most of the given stems; of equals, the first."""
    return max(split_sentences(text) or [text], key=lambda sentence: overlap(stems, _stems(content_words(sentence))))


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in words)
