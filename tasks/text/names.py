"""Find names in English text by their capitals, if no trained recogniser is installed; without types.

A name is a run of capitalised words, possibly joined by particles and "of", or a title in quotation marks. The capital
of a word that opens a sentence is no evidence, unless the word is also capitalised elsewhere in the paragraph or the
words around it suggest a name. `benchmarks/entities.py` measures it on Wikigold."""

import re
from collections.abc import Iterator, Sequence

from tasks.engine.data_files import read_data
from tasks.text.content_words import FUNCTION_WORDS

VERSION = "2"
LONGEST_NAME = 9  # words; a longer run of capitals is a heading

_ENDS = frozenset({".", "!", "?", "...", "…", ":", ";", "\n", "•", "*"})
_OPENING_QUOTES = frozenset({'"', "“", "«", "``", "‘"})
_CLOSING_QUOTES = frozenset({'"', "”", "»", "''", "’"})
_WORDS = read_data("tasks.text", "words.toml")
_JOINTS, _CALENDAR, _TITLES = (frozenset(_WORDS[name]) for name in ("joints", "calendar", "titles"))
_NO_NAME = re.compile(r"(?:ed|ing|tion|ment|s)$")  # a lone word with such an ending opens a sentence; it is not a name
_AFTER_SUBJECT = re.compile(r"was|were|is|are|has|had|became|and|also|of|'s|[(,]|\w{2,}(?:s|ed)")


def find_names(words: Sequence[str]) -> list[slice]:
    """Return the slices of `words`, tokens as of spaCy's English tokenizer, that are names, in order, disjoint."""
    if _is_heading(words):
        return []
    works = list(_quoted_works(words))
    part = _parts(words)
    for work in works:
        part[work] = [False] * (work.stop - work.start)
    return sorted([*works, *_runs(words, part)], key=lambda name: name.start)


def _is_heading(words: Sequence[str]) -> bool:
    """Tell whether this is a line in title case, whose capitals are no evidence for names."""
    alphabetic = sum(word[0].isalpha() for word in words)
    sentence = words[-1:] == ["."] or "," in words
    return not sentence and alphabetic >= 6 and sum(map(_is_capital, words)) > 0.8 * alphabetic


def _parts(words: Sequence[str]) -> list[bool]:
    """Tell for each word whether it looks like part of a name."""
    openings = _sentence_openings(words)
    inside = {word for word, opening in zip(words, openings, strict=True) if _is_capital(word) and not opening}
    lower = {word.lower() for word in words if not _is_capital(word)}
    return [
        _is_capital(word) and _is_part(word, following, opening and word not in inside, word.lower() in lower)
        for word, following, opening in zip(words, [*words[1:], ""], openings, strict=False)
    ]


def _is_part(word: str, following: str, opening: bool, common: bool) -> bool:
    """Tell whether a capitalised word looks like part of a name; `following` is the word after it, or "". `opening`: it
    opens a sentence and is capitalised nowhere else in the paragraph; `common`: the paragraph has it in lower case."""
    ahead = _is_capital(following) and following not in _CALENDAR
    small = word.lower()
    if word in _CALENDAR:
        return False
    if small in FUNCTION_WORDS and (len(word) == 1 or not word.isupper()):
        return ahead and not opening and word in ("The", "A")
    if not opening:
        return True
    if common or small.endswith("ly"):
        return False
    return ahead or (_NO_NAME.search(small) is None and _AFTER_SUBJECT.fullmatch(following) is not None)


def _is_capital(word: str) -> bool:
    return word[:1].isupper() or (word[:1].isdigit() and word[-1].isupper() and len(word) > 2)


def _sentence_openings(words: Sequence[str]) -> list[bool]:
    openings, opening = [], True
    for word in words:
        openings.append(opening)
        opening = word in _ENDS or "\n" in word or (opening and not word[0].isalnum())
    return openings


def _quoted_works(words: Sequence[str]) -> Iterator[slice]:
    """Yield titles in quotation marks: up to nine words, the first and most long ones capitalised, no comma inside."""
    last = 0
    for start in range(1, len(words)):
        if start > last and words[start - 1] in _OPENING_QUOTES and _is_capital(words[start]):
            ends = range(start + 1, min(start + 10, len(words)))
            last = next((end for end in ends if words[end] in _CLOSING_QUOTES), 0)
            stop = last - 1 if words[last - 1] in (",", ".") else last
            long = [word for word in words[start:stop] if len(word) > 3]
            if last and "," not in words[start:stop] and sum(map(_is_capital, long)) >= 0.8 * len(long):
                yield slice(start, stop)


def _runs(words: Sequence[str], part: Sequence[bool]) -> Iterator[slice]:
    """Join neighbouring parts of names, across joints and initials' full stops; leave out titles before them."""
    stop = 0
    for start in range(len(words)):
        if not part[start] or start < stop:
            continue
        stop = start + 1
        while (further := _further(words, part, stop)) > stop:
            stop = further
        while start < stop and words[start].rstrip(".") in _TITLES and words[start + 1 : start + 2] != ["of"]:
            start += 1
        if start < stop <= start + LONGEST_NAME:
            yield slice(start, stop)


def _further(words: Sequence[str], part: Sequence[bool], stop: int) -> int:
    """Return the end of the run that continues after `stop`, or `stop` if the run ends there."""
    ahead = stop
    if stop < len(words) and (words[stop] in _JOINTS or (words[stop] == "." and len(words[stop - 1]) == 1)):
        ahead += 1
    return ahead + 1 if ahead < len(words) and part[ahead] else stop
