"""Whether a paragraph has a phrase that shows that it is about the page, not about the page's subject.

Prose about cookies, newsletters or privacy policies has the same words, so each pattern of `boilerplate_phrases.toml`
requires what only a page says about itself. Such text addresses its reader ("you", an imperative at the start of a
sentence), mentions the page ("this site"), or is a label and ends like one. Looking for a pattern's signs is much
cheaper than the search for it, and most prose has none of them."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from tasks.engine.data_files import fill, read_data
from tasks.text.ngrams import split_words

_FREQUENT = frozenset("a all and be by for in is not of on or out the this to up us".split())  # noqa: SIM905
_OTHER_LETTERS = re.compile("[İıſ]")  # equal to i and s for `re.IGNORECASE`, and not for `split_words`
_REMEMBERED = 100_000  # words; a text's words are mostly among those of the texts before it


def phrases() -> list[tuple[str, str]]:
    """Return the signs of each phrase, separated by |, and its pattern, in the file's order."""
    data = read_data("tasks.text", "boilerplate_phrases.toml")
    parts = data["parts"]
    return [(fill(sign, parts), fill(pattern, parts)) for topic in data["topics"] for sign, pattern in topic["phrases"]]


class _Signs(dict[str, tuple[str, ...]]):
    """The signs of all phrases: those that a word may belong to, found once for each word."""

    def __init__(self) -> None:
        listed: defaultdict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for signs, pattern in phrases():
            for sign in signs.split("|"):
                listed[sign][not pattern.startswith("^")].append(pattern)
        # for each sign the patterns listed under it: those of a text's start, and the others, each joined. A pattern
        # that begins with ^ is tried at the start alone, where a search would try it at every character.
        self.patterns = {sign: (_joined(starts), _joined(others)) for sign, (starts, others) in listed.items()}
        self.wordless = tuple(sign for sign in listed if not split_words(sign))  # signs of the text itself
        # The longest word in every other sign: a text with the sign has a word that contains it.
        self._cores = {
            sign: max(split_words(sign), key=lambda word: (word not in _FREQUENT, len(word)))
            for sign in listed
            if sign not in self.wordless
        }
        self._distinct = set(self._cores.values())

    def __missing__(self, word: str) -> tuple[str, ...]:
        signs: tuple[str, ...] = ()
        if any(map(word.__contains__, self._distinct)):  # as few words have
            signs = tuple(
                sign for sign, core in self._cores.items() if (word == core if f" {core} " in sign else core in word)
            )
        if len(self) < _REMEMBERED:
            self[word] = signs
        return signs


_signs = cache(_Signs)


def _joined(patterns: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def is_boilerplate(text: str, words: Sequence[str] | None = None) -> bool:
    """Tell whether a paragraph of one line has a phrase, ignoring case; `words` are its `split_words(text)`."""
    if words is None or not (text.isascii() or _OTHER_LETTERS.search(text) is None):
        words = split_words(fold(text))
    known = _signs()
    signs = {sign for sign in known.wordless if sign in text}
    candidates = list(filter(None, map(known.__getitem__, words)))
    if candidates:
        spaced = f" {' '.join(words)} "
        signs |= {sign for signs_of_word in candidates for sign in signs_of_word if sign in spaced}
    for sign in signs:
        starts, others = known.patterns[sign]
        if (starts is not None and starts.match(text)) or (others is not None and others.search(text)):
            return True
    return False


def fold(text: str) -> str:
    """Return text in lower case, with the letters that `re.IGNORECASE` equates with i, s and k replaced by these."""
    if not text.isascii():
        text = text.replace("İ", "i").replace("ı", "i").replace("ſ", "s")  # K, the sign of kelvin, has k below it
    return text.lower()
