"""A text as the verifier reads it: its words with their kinds, in sentences, and the place of each. Also what it knows
of English: words of one meaning, words that negate or reverse a sentence, words that bound a claim.

`synonyms.txt` and `antonyms.txt` in this folder hold the words; `stem` joins the forms of a word. `phrases.txt` lists
phrases that may replace one another. The lists are English; in another language only words as written, names and
numbers are compared."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import accumulate, chain, pairwise

from models.sentences import split_sentences
from models.values import OPENERS, Value, ValueIndex, find_values
from tasks.engine.data_files import read_data
from tasks.text.content_words import FUNCTION_WORDS
from tasks.verification.canonical import canonical

_VOWELS = frozenset("aeiouy")
_FAMILY = 6  # letters that words of one family share: construct, construction
_NAME_STEM = 4  # letters that a name and its adjective share
_BY_STEM, _BY_GROUP, _BY_FAMILY = 1.0, 0.85, 0.6  # how much a word counts that is found so
_NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis")

_SMALL = read_data("tasks.verification", "words.toml")


def small_words(name: str) -> list[str]:
    """Return a list of `words.toml`, in its order."""
    words: str = _SMALL[name]
    return words.split()


NEGATORS, BE, POINTING = (frozenset(small_words(name)) for name in ("negators", "be", "pointing"))
BOUNDS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _SMALL["bounds"].items()}
LIMITS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _SMALL["limits"].items()}
UNITS: list[list[str]] = [group.split() for group in _SMALL["units"]]
ORDERING = frozenset(small_words("forward") + small_words("backward"))
BOUND_OF: dict[str, str] = {word: name for name, words in BOUNDS.items() for word in words}  # how it bounds a claim


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return what forms of a lower-case word have in common: "opened", "opens" and "opening" are "open"."""
    if len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = f"{word[:-3]}y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            word = rest
            break
    word = word.removesuffix("e")
    if word.endswith("y"):
        word = f"{word[:-1]}i"
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in _VOWELS:
        word = word[:-1]
    return word


@lru_cache(maxsize=65_536)
def family(key: str) -> str | None:
    """Return the common beginning of words derived from one another; None for a word that is too short."""
    return key[:_FAMILY] if len(key) >= _FAMILY and key.isalpha() else None


def groups(key: str) -> frozenset[int]:
    """Return the groups of synonyms that a stem is in."""
    return _synonyms().get(key, frozenset())


@lru_cache(maxsize=65_536)
def signs(key: str, *, number: bool) -> Mapping[Hashable, float]:
    """Return the keys of a word in other texts, and how sure each is, 0-1: its stem, its groups of synonyms, and its
    family; a number only has itself."""
    result: dict[Hashable, float] = {key: _BY_STEM}
    if not number:
        result |= dict.fromkeys(groups(key), _BY_GROUP)
        if (shared := family(key)) is not None:
            result[shared,] = _BY_FAMILY  # another thing than a stem of these letters
    return result


@lru_cache(maxsize=65_536)
def opposites(key: str) -> frozenset[str]:
    """Return the stems that say the opposite of a stem, as far as they are known."""
    made = {f"{prefix}{key}" for prefix in _NEGATIVE_PREFIXES if len(key) > 3}
    made |= {key[len(p) :] for p in _NEGATIVE_PREFIXES if key.startswith(p) and len(key) > len(p) + 3}
    return frozenset(_opposed().get(key, set()) | made)


def may_be_derived(name: str, other: str) -> bool:
    """Tell whether the stem of a name, and of another word, may be a name and its adjective: "Kenya", "Kenyan"."""
    return other.startswith(name[:_NAME_STEM])


def related(key: str, other: str) -> bool:
    """Tell whether two stems are one, are synonyms, or seem to be derived from one another."""
    if key == other or not groups(key).isdisjoint(groups(other)):
        return True
    return (own := family(key)) is not None and own == family(other)


@cache
def _synonyms() -> dict[str, frozenset[int]]:
    result: dict[str, set[int]] = {}
    for number, line in enumerate(_lines("synonyms.txt")):
        for word in line.split():
            result.setdefault(stem(word), set()).add(number)
    return {key: frozenset(numbers) for key, numbers in result.items()}


@cache
def antonyms() -> dict[str, list[str]]:
    """Return the words that reverse a sentence: by each, as written, those that say the opposite."""
    result: dict[str, list[str]] = {}
    for line in _lines("antonyms.txt"):
        one, other = (side.split() for side in line.split("|"))
        for words, opposed in ((one, other), (other, one)):
            for word in words:
                result.setdefault(word, []).extend(opposed)
    return result


@cache
def _opposed() -> dict[str, set[str]]:
    result: dict[str, set[str]] = {}
    for word, opposed in antonyms().items():
        result.setdefault(stem(word), set()).update(map(stem, opposed))
    return {key: keys - {key} for key, keys in result.items()}


BEFORE_NUMBER = " #"  # ends a phrase that is meant only where a number follows


@cache
def phrases() -> dict[str, list[str]]:
    """Return the phrases that may stand for one another as they are written: by each, those that may replace it."""
    result: dict[str, list[str]] = {}
    for line in _lines("phrases.txt"):
        replaced, *only = (side.split(" | ") for side in line.split(" > "))
        for phrase in replaced:
            result.setdefault(phrase, []).extend(other for other in chain(replaced, *only) if other != phrase)
    return result


def _lines(name: str) -> list[str]:
    text = files("tasks.verification").joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


_WORD = re.compile(
    r"\d+(?:,\d+)*(?:\.\d+)?(?:st|nd|rd|th|s)?(?![^\W\d_])|n['’]t\b|(?:[^\W\d_]|\d)+?(?=n['’]t\b)|[^\W_]+|[%$€£¥₹]"
)
_NUMBERS = {word: str(number) for number, word in enumerate(small_words("numbers"))}
_NUMBERS |= {word: str(10 * number) for number, word in enumerate(small_words("tens"), 1)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}
_ORDINALS = {word: f"{number}th" for number, word in enumerate(small_words("ordinals"), 1)}
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NO_CONTENT = FUNCTION_WORDS | NEGATORS | frozenset().union(*BOUNDS.values()) | {"s", "t", "said", "says"}
_MAY = "may, the month"  # as a key: in small letters it is a verb that bounds a claim
_DOUBLED = frozenset({"had", "in", "on", "that"})  # may occur twice in a row in good English
_LEADING = 2
_ARTICLES = frozenset({"a", "an", "the"})
_JOINTS = frozenset(small_words("joints"))
_REMEMBERED = 4096


Weigh = Callable[[str], float]  # information of a word in lower case, from 0


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

    @property
    def signs(self) -> Mapping[Hashable, float]:
        """Its keys in other texts."""
        return signs(self.key, number=self.kind is WordKind.NUMBER)


@dataclass(frozen=True)
class ParsedText:
    """A sentence or a passage."""

    raw: str  # as written
    sentences: tuple[str, ...]
    words: tuple[Word, ...]  # all in order

    @cached_property
    def texts(self) -> list[str]:
        """Its words in lower case."""
        return [word.text for word in self.words]

    @cached_property
    def content(self) -> list[int]:
        """Places of the content words."""
        return [index for index, word in enumerate(self.words) if word.kind]

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """The first place of each sentence, and the one after its last."""
        sizes = Counter(word.sentence for word in self.words)
        return list(pairwise(accumulate((sizes[number] for number in range(len(self.sentences))), initial=0)))

    @cached_property
    def lines(self) -> frozenset[tuple[str, ...]]:
        """The words of each sentence that has content words, in lower case without articles; of numbers the values."""
        texts = [word.key if word.kind is WordKind.NUMBER else word.text for word in self.words]
        held = {self.words[place].sentence for place in self.content}
        sentences = (texts[slice(*self.bounds[number])] for number in held)
        return frozenset(tuple(text for text in sentence if text not in _ARTICLES) for sentence in sentences)

    @cached_property
    def repeats(self) -> frozenset[tuple[str, ...]]:
        """Runs of one to three words that are repeated immediately, in lower case."""
        texts = [word.text for word in self.words]
        runs = {
            tuple(texts[index : index + size])
            for size in (1, 2, 3)
            for index in range(len(texts) - 2 * size + 1)
            if texts[index : index + size] == texts[index + size : index + 2 * size]
        }
        return frozenset(run for run in runs if not _DOUBLED.issuperset(run))

    @cached_property
    def ordinal(self) -> list[int]:
        """The number of content words before each place."""
        return list(accumulate((bool(word.kind) for word in self.words), initial=0))[:-1]

    @cached_property
    def joints(self) -> list[int]:
        """The number of ends of sentences, and of words that may begin a clause, up to each place."""
        counts = accumulate(word.text in _JOINTS for word in self.words)
        return [count + word.sentence for count, word in zip(counts, self.words, strict=True)]

    @cached_property
    def leading(self) -> list[list[int]]:
        """Places of the first content words of each sentence, which mostly name its subject."""
        return [[index for index in range(*bounds) if self.words[index].kind][:_LEADING] for bounds in self.bounds]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The keys of its content words."""
        return frozenset(self.words[place].key for place in self.content)

    @cached_property
    def index(self) -> Mapping[Hashable, list[int]]:
        """Places of its content words by each of their `signs`."""
        index: defaultdict[Hashable, list[int]] = defaultdict(list)
        for place in self.content:
            for sign in self.words[place].signs:
                index[sign].append(place)
        return index

    @cached_property
    def evidence(self) -> ValueIndex:
        """The values of all sentences."""
        return ValueIndex([canonical(self.raw)])

    @cached_property
    def values(self) -> list[Value]:
        """Its names, numbers and dates; a first word counts as a name only before another capital."""
        return [value for value in find_values(canonical(self.raw), self.evidence) if not self._opens(value)]

    def _opens(self, value: Value) -> bool:
        """Whether a value is only the first word of a sentence, whose capital says nothing."""
        if value.kind != "name" or not isinstance(value.key, tuple) or len(value.key) != 1:
            return False
        return any(self.words[start].text == str(value.key[0]) for start, end in self.bounds if start < end)


def word_weights(words: Iterable[Word], weigh: Weigh) -> list[float]:
    """Return the information of each word; names and numbers have most."""
    return [weigh(word.text) if word.kind is WordKind.WORD else max(1.0, weigh(word.text)) for word in words]


@lru_cache(maxsize=_REMEMBERED)
def read(text: str) -> ParsedText:
    """Return a text as the verifier reads it; texts read lately are remembered."""
    sentences = tuple(split_sentences(text))
    words = [word for number, sentence in enumerate(sentences) for word in _words(canonical(sentence), number)]
    return ParsedText(text, sentences, tuple(words))


def _words(sentence: str, number: int) -> Iterator[Word]:
    matches = [match[0] for match in _WORD.finditer(sentence)]
    skip = False
    for index, raw in enumerate(matches):
        if skip:
            skip = False
            continue
        lower = raw.lower().replace("’", "'")
        following = matches[index + 1].lower() if index + 1 < len(matches) else ""
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
        elif raw == "May" and (index or following[:1].isdigit()):
            yield Word(_MAY, _MAY, WordKind.NAME, number)
        elif lower in _NO_CONTENT:
            yield Word(lower, stem(lower), WordKind.FUNCTION, number)
        else:
            inner = index > 0 or (following and matches[1][0].isupper() and lower not in OPENERS)
            name = raw[0].isupper() and bool(inner)
            yield Word(lower, stem(lower), WordKind.NAME if name else WordKind.WORD, number)


def _number(word: str) -> Decimal | None:
    if word in _NUMBERS:
        return Decimal(_NUMBERS[word])
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
