"""A text as the verifier reads it: its words with what they are, in sentences, and where each stands."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

from models.sentences import split_sentences
from models.values import OPENERS, Value, ValueIndex, find_values
from tasks.text.content_words import FUNCTION_WORDS
from tasks.verification.lexicon import BOUNDS, NEGATORS, family, groups, small_words, stem

_WORD = re.compile(
    r"\d+(?:,\d+)*(?:\.\d+)?(?:st|nd|rd|th|s)?(?![^\W\d_])|n['’]t\b|(?:[^\W\d_]|\d)+?(?=n['’]t\b)|[^\W_]+|[%$€£¥₹]"
)
_SMALL = {word: str(number) for number, word in enumerate(small_words("numbers"))}
_SMALL |= {word: str(10 * number) for number, word in enumerate(small_words("tens"), 1)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}
_ORDINALS = {word: f"{number}th" for number, word in enumerate(small_words("ordinals"), 1)}
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NO_CONTENT = FUNCTION_WORDS | NEGATORS | frozenset().union(*BOUNDS.values()) | {"s", "t", "said", "says"}
_MAY = "may, the month"  # as a key: in small letters it is a verb that bounds a claim
_LEADING = 2
_JOINTS = frozenset(small_words("joints"))
_REMEMBERED = 4096


class WordKind(IntEnum):
    """What a word is to the verifier."""

    FUNCTION = 0
    WORD = 1
    NAME = 2
    NUMBER = 3


@dataclass(frozen=True, slots=True)
class Word:
    """A word."""

    text: str  # in lower case
    key: str  # what its forms have in common; of a number its value
    kind: WordKind  # function word, other word, name (by its capital) or number
    sentence: int  # number of its sentence


@dataclass(frozen=True)
class ParsedText:
    """A sentence or a passage."""

    raw: str  # as written
    sentences: tuple[str, ...]
    words: tuple[Word, ...]  # all in order

    @cached_property
    def content(self) -> list[int]:
        """Places of the words that are no function words."""
        return [place for place, word in enumerate(self.words) if word.kind]

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """The first place of each sentence, and the one after its last."""
        sizes = Counter(word.sentence for word in self.words)
        return list(pairwise(accumulate((sizes[number] for number in range(len(self.sentences))), initial=0)))

    @cached_property
    def lines(self) -> frozenset[tuple[str, ...]]:
        """The words of each sentence that has content words, in lower case, and the values of its numbers."""
        told = [word.key if word.kind is WordKind.NUMBER else word.text for word in self.words]
        held = {self.words[place].sentence for place in self.content}
        return frozenset(tuple(told[slice(*self.bounds[number])]) for number in held)

    @cached_property
    def ordinal(self) -> list[int]:
        """For each place, how many content words stand before it."""
        return list(accumulate((bool(word.kind) for word in self.words), initial=0))[:-1]

    @cached_property
    def joints(self) -> list[int]:
        """For each place, how many words that may begin a clause, and ends of sentences, stand before it or there."""
        counts = accumulate(word.text in _JOINTS for word in self.words)
        return [count + word.sentence for count, word in zip(counts, self.words, strict=True)]

    @cached_property
    def leading(self) -> list[list[int]]:
        """Places of the first content words of each sentence, which mostly name its subject."""
        return [[place for place in range(*bounds) if self.words[place].kind][:_LEADING] for bounds in self.bounds]

    @cached_property
    def index(self) -> "Index":
        """Where its words stand."""
        index = Index()
        for place in self.content:
            word = self.words[place]
            index.keys.setdefault(word.key, []).append(place)
            if word.kind is not WordKind.NUMBER:
                for group in groups(word.key):
                    index.groups.setdefault(group, []).append(place)
                if (shared := family(word.key)) is not None:
                    index.families.setdefault(shared, []).append(place)
        return index

    @cached_property
    def evidence(self) -> ValueIndex:
        """The values of all sentences."""
        return ValueIndex([self.raw])

    @cached_property
    def values(self) -> list[Value]:
        """Its names, numbers and dates; a first word counts as a name only before another capital."""
        return [value for value in find_values(self.raw, self.evidence) if not self._opens(value)]

    def _opens(self, value: Value) -> bool:
        """Whether a value is only the first word of a sentence, whose capital says nothing."""
        if value.kind != "name" or not isinstance(value.key, tuple) or len(value.key) != 1:
            return False
        return any(self.words[start].text == str(value.key[0]) for start, end in self.bounds if start < end)


@dataclass
class Index:
    """Places of a text's content words by stem, by group of synonyms, and by family."""

    keys: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)
    families: dict[str, list[int]] = field(default_factory=dict)


@lru_cache(maxsize=_REMEMBERED)
def read(text: str) -> ParsedText:
    """Return a text as the verifier reads it; texts read lately are remembered."""
    sentences = tuple(split_sentences(text))
    words = [word for number, sentence in enumerate(sentences) for word in _words(sentence, number)]
    return ParsedText(text, sentences, tuple(words))


def _words(sentence: str, number: int) -> Iterator[Word]:
    matches = [match[0] for match in _WORD.finditer(sentence)]
    skip = False
    for place, raw in enumerate(matches):
        if skip:
            skip = False
            continue
        lower = raw.lower().replace("’", "'")
        following = matches[place + 1].lower() if place + 1 < len(matches) else ""
        value = _number(lower)
        if value is not None and not (lower == "one" and (following in _NO_CONTENT or not following)):
            if following.rstrip("s") in _SCALES:
                value *= _SCALES[following.rstrip("s")]
                skip = True
            yield Word(lower, f"{value.normalize():f}", WordKind.NUMBER, number)
        elif (ordinal := _ordinal(lower)) is not None:
            yield Word(lower, ordinal, WordKind.NUMBER if lower[0].isdigit() else WordKind.WORD, number)
        elif lower[0].isdigit():
            yield Word(lower, lower, WordKind.NUMBER, number)
        elif raw == "May" and (place or following[:1].isdigit()):
            yield Word(_MAY, _MAY, WordKind.NAME, number)
        elif lower in _NO_CONTENT:
            yield Word(lower, stem(lower), WordKind.FUNCTION, number)
        else:
            inner = place > 0 or (following and matches[1][0].isupper() and lower not in OPENERS)
            name = raw[0].isupper() and bool(inner)
            yield Word(lower, stem(lower), WordKind.NAME if name else WordKind.WORD, number)


def _number(word: str) -> Decimal | None:
    if word in _SMALL:
        return Decimal(_SMALL[word])
    if not word[0].isdigit() or not word[-1].isdigit():
        return None
    try:
        return Decimal(word.replace(",", ""))
    except InvalidOperation:
        return None


def _ordinal(word: str) -> str | None:
    if word in _ORDINALS:
        return _ORDINALS[word]
    match = _ORDINAL.fullmatch(word)
    return f"{match[1]}th" if match else None
