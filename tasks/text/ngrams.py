"""Words, n-grams and common subsequences: clones, labels, tf-idf and the ranking table all count by them."""

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Literal, get_args

from models.words import UNSPACED_SCRIPTS, is_beyond_latin

WordRule = Literal["rouge", "unicode"]
"""How a text is cut into words: `rouge` is the papers' rule, `unicode` keeps other scripts than ASCII."""
_HEAD = 2000  # characters of a text that decide its alphabet
_RULES = get_args(WordRule)

# Every byte other than an ASCII letter or digit becomes a space; capitals become lower case.
_TO_WORD_BYTES = bytes(ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256))

# Texts of Latin letters and usual punctuation: their words hold no marks, and NFC leaves them as they are.
_OTHER_SCRIPTS = re.compile(r"[^\x00-\u02ff\u2010-\u205e\u20a0-\u20bf]")
_PLAIN_WORD = re.compile(r"[^\W_]+")


def split_words(text: str, rule: WordRule = "rouge") -> list[str]:
    """Return the lower-case words of a text.

    `rouge` gives exactly the words of rouge-score's tokeniser without stemming, on which the papers' labels and scores
    are based. These are runs of a-z and 0-9, separated by everything else ("Zürich" is "z", "rich"; a Russian text has
    no words). `unicode` keeps letters, digits and combining marks of every script, and takes each character of a script
    without spaces as a word; on ASCII text the two are the same. Raises ValueError: unknown rule."""
    if rule not in _RULES:
        raise ValueError(f"unknown word rule {rule!r}: expected 'rouge' or 'unicode'")
    if not text.isascii():
        text = text.lower()  # some non-ASCII letters have ASCII lower-case forms, such as the Kelvin sign
        if rule == "unicode":
            plain = _OTHER_SCRIPTS.search(text) is None
            return _PLAIN_WORD.findall(text) if plain else _unicode_word().findall(unicodedata.normalize("NFC", text))
    return text.encode("ascii", "replace").translate(_TO_WORD_BYTES).decode("ascii").split()


def rule_for(text: str, rule: WordRule = "rouge") -> WordRule:
    """Return the rule for texts that are compared with a text, such as a lead. `rouge` would drop nearly all of a text
    in another alphabet than the Latin one, and two such texts that share a year would be equal. So `unicode` replaces
    it there."""
    return "unicode" if rule == "unicode" or is_beyond_latin(text[:_HEAD]) else "rouge"


def ngrams(words: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    """Return every n neighbouring words, in order; none if there are fewer words."""
    return zip(*(words[start:] for start in range(n)), strict=False)


def places_of(words: Iterable[str]) -> dict[str, int]:
    """Return for each word the set of its places, as the bits of an integer."""
    places: dict[str, int] = {}
    for index, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << index
    return places


class TargetNgrams:
    """The n-grams of one target, counted once and compared with many paragraphs. Matches are clipped, as in ROUGE (Lin
    2004): an n-gram that occurs k times in the target counts at most k times."""

    def __init__(self, target: Sequence[str], n: int) -> None:
        self.n = n  # length of an n-gram in words
        self.total = max(len(target) - n + 1, 0)  # n-grams of the target, repetitions included
        self._counts = Counter(ngrams(target, n))

    def matched(self, paragraph: Sequence[str]) -> int:
        """Return how many n-grams the paragraph shares with the target, clipped."""
        shared = list(filter(self._counts.__contains__, ngrams(paragraph, self.n)))
        if len(set(shared)) == len(shared):
            return len(shared)
        return sum(min(count, self._counts[ngram]) for ngram, count in Counter(shared).items())

    def recall(self, paragraph: Sequence[str]) -> float:
        """Return the share of the target's n-grams that occur in the paragraph, 0-1; 0 for an empty target."""
        return self.matched(paragraph) / self.total if self.total else 0.0


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two word sequences. It uses one bit per word of the
    shorter sequence, and a few operations on whole integers per word of the longer one. A bit is 0 where the last row
    of the usual table rises (Hyyrö 2004, "Bit-parallel LCS-length computation revisited")."""
    if len(a) > len(b):
        a, b = b, a
    everywhere = (1 << len(a)) - 1
    row = everywhere
    for occurrences in filter(None, map(places_of(a).get, b)):
        hits = row & occurrences
        row = ((row + hits) | (row - hits)) & everywhere
    return len(a) - row.bit_count()


@cache
def _unicode_word() -> re.Pattern[str]:
    """Return the pattern of the `unicode` rule; made on first use, because it reads Unicode's table of marks."""
    marks = "".join(
        re.escape(chr(code)) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)).startswith("M")
    )
    unspaced = rf"(?=\w)[{UNSPACED_SCRIPTS}][{marks}]*"
    spaced = rf"[^\W_{UNSPACED_SCRIPTS}](?:[^\W_{UNSPACED_SCRIPTS}]|[{marks}])*"
    return re.compile(f"{unspaced}|{spaced}")


@cache
def _stemmer() -> Any:
    from rouge_score.tokenizers import DefaultTokenizer  # here, because it imports nltk and scipy.stats, for seconds

    return DefaultTokenizer(use_stemmer=True)


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """Return rouge-score's stem of a word: Porter's, for words of at least four letters; another alphabet's stays."""
    if not word.isascii():
        return word
    (stemmed,) = _stemmer().tokenize(word)
    return str(stemmed)
