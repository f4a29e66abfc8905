"""What the verifier knows of English: words of one meaning, words that turn a sentence round, words that bound a claim.

`synonyms.txt` and `antonyms.txt` beside this file hold the words; forms of a word are joined by `stem`. `phrases.txt`
holds what may replace what as it is written. In another language the lists know nothing, and only words as written,
names and numbers are compared."""

from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain

from tasks.engine.data_files import read_data

_VOWELS = frozenset("aeiouy")
_FAMILY = 6  # letters that words of one family share: construct, construction
_NEGATIVE_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "mis")

_SMALL = read_data("tasks.verification", "words.toml")


def small_words(name: str) -> list[str]:
    """Return a list of `words.toml`, in its order."""
    words: str = _SMALL[name]
    return words.split()


NEGATORS, BE = frozenset(small_words("negators")), frozenset(small_words("be"))
BOUNDS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _SMALL["bounds"].items()}
LIMITS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _SMALL["limits"].items()}
UNITS: list[list[str]] = [group.split() for group in _SMALL["units"]]
FORWARD, BACKWARD = frozenset(small_words("forward")), frozenset(small_words("backward"))
_BOUND_OF: dict[str, str] = {word: name for name, words in BOUNDS.items() for word in words}


def bound_of(word: str) -> str:
    """Return how a lower-case word bounds a claim; an empty string where it does not."""
    return _BOUND_OF.get(word, "")


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
    """Return what words derived from one another share; None for a word too short to tell."""
    return key[:_FAMILY] if len(key) >= _FAMILY and key.isalpha() else None


@lru_cache(maxsize=65_536)
def groups(key: str) -> frozenset[int]:
    """Return the groups of synonyms that a stem is in."""
    return _synonyms().get(key, frozenset())


@lru_cache(maxsize=65_536)
def opposites(key: str) -> frozenset[str]:
    """Return the stems that say the opposite of a stem, as far as they are known."""
    made = {f"{prefix}{key}" for prefix in _NEGATIVE_PREFIXES if len(key) > 3}
    made |= {key[len(p) :] for p in _NEGATIVE_PREFIXES if key.startswith(p) and len(key) > len(p) + 3}
    return frozenset(_opposed().get(key, set()) | made)


def related(key: str, other: str) -> bool:
    """Tell whether two stems are one, are synonyms, or seem to be derived from one another."""
    if key == other or not groups(key).isdisjoint(groups(other)):
        return True
    return (own := family(key)) is not None and own == family(other)


@cache
def _synonyms() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate(_lines("synonyms.txt")):
        for word in line.split():
            found.setdefault(stem(word), set()).add(number)
    return {key: frozenset(numbers) for key, numbers in found.items()}


@cache
def antonyms() -> dict[str, list[str]]:
    """Return the words that turn a sentence round: by each, as written, those that say the opposite."""
    found: dict[str, list[str]] = {}
    for line in _lines("antonyms.txt"):
        one, other = (side.split() for side in line.split("|"))
        for words, opposed in ((one, other), (other, one)):
            for word in words:
                found.setdefault(word, []).extend(opposed)
    return found


@cache
def _opposed() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for word, opposed in antonyms().items():
        found.setdefault(stem(word), set()).update(map(stem, opposed))
    return {key: keys - {key} for key, keys in found.items()}


def phrases() -> dict[str, list[str]]:
    """Return the phrases that may stand for one another as they are written: by each, those that may replace it."""
    found: dict[str, list[str]] = {}
    for line in _lines("phrases.txt"):
        replaced, *only = (side.split(" | ") for side in line.split(" > "))
        for phrase in replaced:
            found.setdefault(phrase, []).extend(other for other in chain(replaced, *only) if other != phrase)
    return found


def _lines(name: str) -> list[str]:
    text = files("tasks.verification").joinpath(name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
