"""Restatements: true sentences made of a passage's own, by rules that keep what is said.

They teach the verifier what may change: the sentence shortened, in synonyms, joined with its neighbour, with its
pronoun resolved, its opening moved to its end, its passive made active, its numbers written in digits.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache

from tasks.engine.dice import Dice
from tasks.verification.lexicon import opposites, stem, synonym_groups
from tasks.verification.words import WordKind, read

_PARENTHESIS = re.compile(r" ?\([^()]{1,200}\)")
_OPENING = re.compile(r"(?:However|Moreover|Also|Furthermore|Meanwhile|In addition|Later|Today|Then|Additionally), ")
_TIME = re.compile(r"(?P<time>(?:In|On|By|During|Since) [^,]{2,40}), (?P<rest>\w)")
_PRONOUN = re.compile(r"(?:It|He|She|They) (?=(?:is|are|was|were|has|have|had)\b|[a-z]+ed\b)")
_SUBJECT = re.compile(
    r"(?P<subject>(?:The |A |An )?[A-Z][^,;:]{1,50}?) (?=(?:is|are|was|were|has|have|had)\b|[a-z]{2,}ed\b)"
)
_PASSIVE = re.compile(
    r"(?P<object>[A-Z][^,;:]{2,60}?) (?:was|were) (?P<verb>[a-z]{2,}ed|built|written|won|made|led|found) by "
    r"(?P<subject>[A-Z][^,;:.]{2,60})(?P<end>[.,])"
)
_WORD = re.compile(r"[^\W\d_]+")
_ENDINGS = ("ing", "ed", "ly", "s")
_MOST_SYNONYMS = 3
Restater = Callable[[str, str, Dice], Iterator[str]]


def restatements(sentence: str, following: str, dice: Dice) -> Iterator[tuple[str, str]]:
    """Yield (kind, restatement) of a sentence, at most one of each kind.

    Args:
        sentence: of a passage.
        following: the sentence after it, or an empty string.
        dice: what decides which words change.
    """
    for kind, restater in KINDS.items():
        made = [text for text in restater(sentence, following, dice) if len(text.split()) >= 4]
        if made:
            yield kind, dice.pick(made)


def _same(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    yield sentence


def _shortened(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    if (rest := _PARENTHESIS.sub("", sentence)) != sentence:
        yield rest
    if match := _OPENING.match(sentence):
        yield _capital(sentence[match.end() :])
    if match := _TIME.match(sentence):
        yield _capital(sentence[match.end("time") + 2 :])
    parts = sentence.rstrip(".").split(", ")
    if (
        len(parts) == 3
        and not _TIME.match(sentence)
        and parts[1].startswith(("which ", "who ", "a ", "an ", "the ", "where ", "based ", "known "))
    ):
        yield f"{parts[0]} {parts[2]}."
    if len(parts) > 1 and parts[-1].startswith(
        ("which ", "who ", "where ", "including ", "with ", "while ", "making ")
    ):
        yield f"{', '.join(parts[:-1])}."
    head, joint, tail = sentence.rstrip(".").rpartition(", and ")
    if joint and len(head.split()) > 5 and len(tail.split()) > 4 and "," not in head:
        yield f"{head}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@cache
def _synonyms() -> dict[str, list[list[str]]]:
    found: dict[str, list[list[str]]] = {}
    for group in synonym_groups():
        words = [word for word in group if word.isalpha()]
        for word in words:
            found.setdefault(stem(word), []).append(words)
    return found


def in_synonyms(sentence: str, dice: Dice, most: int = _MOST_SYNONYMS) -> str:
    """Return a sentence with some of its ordinary words replaced by synonyms with the same ending."""
    ordinary = {word.text for word in read(sentence).words if word.kind is WordKind.WORD}
    options = []
    for match in list(_WORD.finditer(sentence))[1:]:
        word = match[0]
        if word not in ordinary:
            continue
        ending = _ending(word)
        own = stem(word)
        for group in _synonyms().get(own, ()):
            alike = [w for w in group if stem(w) != own and _ending(w) == ending and stem(w) not in opposites(own)]
            options += [(match.start(), match.end(), other) for other in alike]
    chosen: dict[int, tuple[int, str]] = {}
    for start, end, other in dice.sample(options, most):
        chosen.setdefault(start, (end, other))
    for start, (end, other) in sorted(chosen.items(), reverse=True):
        sentence = f"{sentence[:start]}{other}{sentence[end:]}"
    return sentence


def _ending(word: str) -> str:
    return next((ending for ending in _ENDINGS if word.endswith(ending)), "")


def _in_synonyms(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    if (changed := in_synonyms(sentence, dice)) != sentence:
        yield changed


def _both(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    for shorter in list(_shortened(sentence, following, dice))[:1]:
        yield in_synonyms(shorter, dice)


def _fused(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence joined with the next one, whose pronoun is its subject."""
    match = _PRONOUN.match(following)
    if match and _SUBJECT.match(sentence) and len(sentence.split()) + len(following.split()) < 45:
        yield f"{sentence.rstrip('.')} and {following[match.end() :]}"
        if tail := _SUBJECT.match(sentence):
            yield f"{tail['subject']} {following[match.end() :]}"
            first = sentence[tail.end() :].rstrip(".")
            yield f"{tail['subject']} {following[match.end() :].rstrip('.')} and {first}."


def _pronoun(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence whose subject is a pronoun, as after a sentence that names it."""
    if match := _SUBJECT.match(sentence):
        yield f"{dice.pick(('It', 'He', 'She', 'It'))} {sentence[match.end() :]}"


def _moved(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    if (match := _TIME.match(sentence)) and sentence.endswith("."):
        rest = sentence[match.end("time") + 2 :].rstrip(".")
        yield f"{_capital(rest)} {match['time'][:1].lower()}{match['time'][1:]}."


def _active(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    if match := _PASSIVE.match(sentence):
        what = (
            match["object"] if match["object"].split()[0] not in {"The", "A", "An", "It"} else _small(match["object"])
        )
        yield f"{match['subject']} {match['verb']} {what}."


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _digits(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    for word in read(sentence).words:
        if word.kind is WordKind.NUMBER and word.text.isalpha() and word.text != "one" and word.key.isdigit():
            yield re.sub(rf"\b{word.text}\b", word.key, sentence, count=1)


KINDS: dict[str, Restater] = {
    "unchanged": _same,
    "shortened": _shortened,
    "synonyms": _in_synonyms,
    "shortened, synonyms": _both,
    "fused": _fused,
    "pronoun": _pronoun,
    "moved": _moved,
    "active": _active,
    "digits": _digits,
}
