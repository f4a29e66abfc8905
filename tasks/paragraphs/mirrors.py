"""Mirrors: web pages that hold an article's lead, however they lay it out."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain

from tasks.engine.data_files import read_data
from tasks.text.ngrams import ngrams, split_words

# Of 1,588 real pairs of a section and a page that it cites none shares more than .39 of the 8-grams, mostly quotations
# (`python -m benchmarks.mirrors`); a page that copied the section shares .67 or more.
NGRAM_WORDS = 8
_RUN = re.compile(rb"\x01{8,}")  # NGRAM_WORDS words of the lead in a row

# What mirrors add to a text: [1], [note 2], [citation needed], a raised number, a number right after a word or stop.
# The last pattern begins with the digit, because Python finds that much sooner than what is before it.
_RAISED = re.compile("[\u00b2\u00b3\u00b9\u2070-\u209f]")
_REFERENCE = re.compile(r"\[[^\[\]]{1,20}\]")
_NUMBER_BEHIND = re.compile(r"\d(?:(?<=[^\W\d_]{2}\d)|(?<=[^\W\d_][.,;:!?)”’\"]\d))\d{0,2}\b")
_NO_SIGN_ABOVE = ("Mn", "Cf")  # marks on letters; characters without width, soft hyphens among them
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_RUNS = 1 << 16  # runs of such characters whose plain form is remembered; English has few


def plain_words(text: str) -> list[str]:
    """Return the words of a text without what a mirror may add or exchange. That is reference marks, characters without
    width, other forms of the same letter (NFKD), marks on letters, and letters of other scripts that look Latin."""
    text = _NOT_ASCII.sub(_plain_run, text)
    if "[" in text:
        text = _REFERENCE.sub(" ", text)
    return split_words(_NUMBER_BEHIND.sub("", text), "unicode")


def _plain_run(run: re.Match[str]) -> str:
    return _plain(run[0])


@lru_cache(_RUNS)
def _plain(run: str) -> str:
    plain = unicodedata.normalize("NFKD", _RAISED.sub("", run)).translate(_lookalikes())
    return "".join(sign for sign in plain if unicodedata.category(sign) not in _NO_SIGN_ABOVE)


class LeadNgrams:
    """The different 8-grams of a lead, and which paragraphs of a document repeat them."""

    def __init__(self, lead: str) -> None:
        words = plain_words(lead)
        self._words = frozenset(words)
        self._ngrams = frozenset(ngrams(words, NGRAM_WORDS))
        self._bigrams = frozenset(ngrams(words, 2))

    def share_in(self, texts: Iterable[str]) -> float:
        """Return the share (0-1) of the lead's 8-grams that a document has, given as its paragraphs, whose borders do
        not count; 0 for a lead of fewer than eight words."""
        shared = {ngram for _, ngram in self._shared(list(chain.from_iterable(map(plain_words, texts))))}
        return len(shared) / max(1, len(self._ngrams))

    def mirrored(self, texts: Sequence[str], threshold: float) -> list[bool]:
        """Tell which paragraphs of a document repeat the lead: none if its share of the 8-grams is at most the
        threshold (0-1). Else these are paragraphs that a shared 8-gram reaches into, and those with half of their
        bigrams from the lead (pieces of the lead with other words between)."""
        words = [plain_words(text) for text in texts]
        shared = list(self._shared(list(chain.from_iterable(words))))
        if len({ngram for _, ngram in shared}) <= threshold * len(self._ngrams):
            return [False] * len(texts)
        ends = list(accumulate(map(len, words)))
        reached = {bisect_right(ends, index) for start, _ in shared for index in range(start, start + NGRAM_WORDS)}
        return [number in reached or self._is_piece(own) for number, own in enumerate(words)]

    def _shared(self, words: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the 8-grams of a document that the lead has, each with the place of its first word."""
        # Most documents have no eight words of the lead in a row: a pattern over one byte a word finds those that do.
        for run in _RUN.finditer(bytes(map(self._words.__contains__, words))):
            for start, ngram in enumerate(ngrams(words[run.start() : run.end()], NGRAM_WORDS), run.start()):
                if ngram in self._ngrams:
                    yield start, ngram

    def _is_piece(self, words: Sequence[str]) -> bool:
        shared = sum(map(self._bigrams.__contains__, ngrams(words, 2)))
        return shared > 0 and 2 * shared >= len(words) - 1


@cache
def _lookalikes() -> dict[int, str]:
    scripts = read_data("tasks.paragraphs", "lookalikes.toml").values()
    return {
        ord(letter): latin
        for script in scripts
        for letter, latin in zip(script["letters"], script["latin"], strict=True)
    }
