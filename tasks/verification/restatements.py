"""Restatements: true sentences made from those of a passage, by rules that keep the meaning.

They teach the verifier which changes keep the meaning. The sentence is shortened or cut to one clause, phrased
otherwise, or joined with its neighbour. It gets a pronoun for its subject, its time or place elsewhere, the other
voice, or digits for its numbers."""

import re
from collections.abc import Callable, Iterator
from functools import cache

from tasks.engine.data_files import fill, read_data
from tasks.engine.hashing import Dice
from tasks.verification.words import BEFORE_NUMBER, WordKind, phrases, read, small_words

_DATA = read_data("tasks.verification", "restatements.toml")
_VERB: str = _DATA["parts"]["VERB"]
_PATTERNS = [re.compile(fill(pattern, _DATA["parts"])) for pattern in _DATA["patterns"].values()]
_PARENTHESIS, _OPENING, _TIME, _DATED, _PLACED, _CLAUSES, _PRONOUN = _PATTERNS[:7]
_SUBJECT, _ASIDE, _REDUCED, _PASSIVE, _ACTIVE, _OF, _NUMBER = _PATTERNS[7:]
_FORMS = [(re.compile(pattern), replacement) for pattern, replacement in _DATA["forms"]]
_NUMBERS = small_words("numbers")
_NAMELESS = frozenset(
    ["The", "A", "An", "It", "He", "She", "They", "Its", "His", "Her", "Their", "This", "These", "There"]
)
_LEADING = frozenset(small_words("leading"))  # first words of a clause without its own subject, or that names it later
_MOST_PHRASES = 3
Restater = Callable[[str, str, Dice], Iterator[str]]


def restatements(sentence: str, following: str, dice: Dice) -> Iterator[tuple[str, str]]:
    """Yield (kind, restatement) of a sentence, at most one of each kind. `following`: the sentence after it, "" = none;
    `dice`: random choices of the changed words."""
    for kind, restater in KINDS.items():
        made = [text for text in restater(sentence, following, dice) if len(text.split()) >= 4]
        if made:
            yield kind, dice.pick(made)


def _shortened(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    if (rest := _PARENTHESIS.sub("", sentence)) != sentence:
        yield rest
    if match := _OPENING.match(sentence):
        yield _capital(sentence[match.end() :])
    if match := _TIME.match(sentence):
        yield _capital(sentence[match.end("time") + 2 :])
    if match := _ASIDE.match(sentence):
        yield f"{match['subject']} {sentence[match.start('verb') :]}"
    parts = sentence.rstrip(".").split(", ")
    if len(parts) > 1 and parts[-1].startswith(
        ("which ", "who ", "where ", "including ", "with ", "while ", "making ")
    ):
        yield f"{', '.join(parts[:-1])}."
    head, joint, tail = sentence.rstrip(".").rpartition(", and ")
    if joint and len(head.split()) > 5 and len(tail.split()) > 4 and "," not in head:
        yield f"{head}."


def _clause(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield an aside as a sentence, and the second of two verbs with its subject."""
    match = _ASIDE.match(sentence)
    if match and match["subject"].split()[0] not in _LEADING and not _CLAUSES.search(match["subject"]):
        past = match["verb"] in {"was", "were", "had"} or match["verb"].endswith("ed")
        yield f"{match['subject']} {match['clause'] or ('was ' if past else 'is ') + match['what']}."
    if (match := _SUBJECT.match(sentence)) and not {",", ";"} & set(sentence):
        _, joint, second = sentence[match.end() :].rpartition(" and ")
        if joint and re.match(rf"{_VERB}|[a-z]+ed\b", second) and not _CLAUSES.search(match["subject"]):
            being = match["verb"] in {"is", "are"} and not re.match(_VERB, second)  # "are read and kept": are kept
            yield " ".join([match["subject"], *([match["verb"]] if being else []), second])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _small(text: str) -> str:
    """Return the beginning of a sentence in the form that it has within one; empty if its capital may be a name's or
    not."""
    first, _, rest = text.partition(" ")
    if first in _NAMELESS:
        return f"{first.lower()} {rest}"
    return text if rest[:1].isupper() else ""


@cache
def _replaceable() -> re.Pattern[str]:
    return re.compile("|".join(_as_pattern(phrase) for phrase in sorted(phrases(), key=len, reverse=True)))


def _as_pattern(phrase: str) -> str:
    """Return a pattern for a phrase, not within words joined by hyphens nor after "an"; a capital may open a
    sentence."""
    said = phrase.removesuffix(BEFORE_NUMBER)
    opening = "" if said[:1] == "," else rf"(?:(?<![\w’'-])(?<!\b[Aa]n ){said[:1]}|^{said[:1].upper()})"
    after = r"(?= [$£€]?\d)" if said != phrase else r"(?![\w’'-])"
    return f"{opening}{re.escape(said[1:] if opening else said)}{after}"


def in_phrases(sentence: str, dice: Dice) -> str:
    """Return a sentence with some of its phrases replaced by others that say the same."""
    chosen = dice.sample(list(_replaceable().finditer(sentence)), _MOST_PHRASES)
    for match in sorted(chosen, key=lambda one: -one.start()):
        put = dice.pick(_replacing(match[0]))
        put = _capital(put) if match[0][0].isupper() else put
        sentence = f"{sentence[: match.start()]}{put}{sentence[match.end() :]}"
    return sentence


def _replacing(found: str) -> list[str]:
    written = (found, f"{found[:1].lower()}{found[1:]}")
    return next(phrases()[key] for item in written for key in (item, f"{item}{BEFORE_NUMBER}") if key in phrases())


def _in_phrases(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    if (changed := in_phrases(sentence, dice)) != sentence:
        yield changed


def _several(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence restated in two ways."""
    for restater in dice.sample((_shortened, _clause, _moved, _turned, _pronoun), 5):
        for once in list(restater(sentence, following, dice))[:1]:
            twice = [text for again in (_moved, _turned) for text in again(once, "", dice)]
            yield in_phrases(dice.pick([once, *twice]), dice)


def _fused(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence joined with the next one, whose pronoun may be its subject."""
    if following and (second := _small(following)) and len(f"{sentence} {following}".split()) < 45:
        yield f"{sentence.rstrip('.')}{dice.pick((',', ''))} and {second}"
    match, own = _PRONOUN.match(following), _SUBJECT.match(sentence)
    if match and own and own["subject"].split()[0] not in _LEADING and len(f"{sentence} {following}".split()) < 45:
        theirs = following[match.end() :]
        yield f"{sentence.rstrip('.')} and {theirs}"
        yield f"{own['subject']} {theirs}"
        yield f"{own['subject']} {theirs.rstrip('.')} and {sentence[own.end() :].rstrip('.')}."
        if "," not in theirs:
            which = "which" if match["pronoun"] == "It" else "who"
            yield f"{own['subject']}, {which} {theirs.rstrip('.')}, {sentence[own.end() :]}"


def _pronoun(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence whose subject is a pronoun, as after a sentence that names it."""
    match = _SUBJECT.match(sentence)
    if match and not _CLAUSES.search(match["subject"]) and not sentence.startswith(" by ", match.end("verb")):
        after = _PRONOUN.match(following)
        thing = "They" if match["verb"] in {"are", "were", "have"} else "It"
        if match["subject"].startswith(("The ", "A ", "An ")) or (
            after and match["subject"].split()[0] not in _LEADING
        ):
            yield f"{after['pronoun'] if after else thing} {sentence[match.end() :]}"


def _moved(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence whose time or place is elsewhere."""
    match = _TIME.match(sentence)
    if match and sentence.endswith(".") and not {",", ";"} & set(rest := sentence[match.end("time") + 2 : -1]):
        if not _CLAUSES.search(rest):
            yield f"{_capital(rest)} {match['time'][:1].lower()}{match['time'][1:]}."
        yield f"{match['time']} {rest}."
    if (match := _DATED.fullmatch(sentence)) and not _CLAUSES.search(sentence):
        if before := _small(match["before"]):
            yield f"{_capital(match['time'])}{dice.pick((',', ''))} {before}{match['after']}."
        yield f"{match['before']}{match['after']} {match['time']}."
    if match := _PLACED.search(sentence):
        yield f"{sentence[: match.start()]}{match['time']}{match['place']}{sentence[match.end() :]}"


def _turned(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence in the other voice, without "which was", or with "'s" for "of"."""
    match = _PASSIVE.fullmatch(sentence)
    if match and (what := _small(match["object"])) and not _CLAUSES.search(what):
        yield f"{_capital(match['subject'])} {match['verb']} {what}{match['end']}"
    if match := _ACTIVE.fullmatch(sentence):
        number = "were" if re.search(r"[^siu]s$", match["object"]) else "was"
        yield f"{_capital(match['object'])} {number} {match['verb']} by {match['subject']}{match['end']}."
    if (rest := _REDUCED.sub(", ", sentence)) != sentence:
        yield rest
    if (rest := _OF.sub(r"\2's \1", sentence, count=1)) != sentence:
        yield _capital(rest)


def _digits(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    for word in read(sentence).words:
        if word.kind is WordKind.NUMBER and word.text.isalpha() and word.text != "one" and word.key.isdigit():
            yield re.sub(rf"\b{word.text}\b", word.key, sentence, count=1)
    if match := _NUMBER.search(sentence):
        yield f"{sentence[: match.start()]}{_NUMBERS[int(match[0])]}{sentence[match.end() :]}"


def _forms(sentence: str, following: str, dice: Dice) -> Iterator[str]:
    """Yield a sentence with its values in other forms: "Nov. 1" for "November 1", "U.S.", "5m", "25%"."""
    for pattern, replacement in _FORMS:
        if (changed := pattern.sub(replacement, sentence)) != sentence:
            yield changed


KINDS: dict[str, Restater] = {
    "unchanged": lambda sentence, following, dice: iter([sentence]),
    "shortened": _shortened,
    "clause": _clause,
    "other phrases": _in_phrases,
    "several": _several,
    "fused": _fused,
    "pronoun": _pronoun,
    "moved": _moved,
    "turned": _turned,
    "digits": _digits,
    "forms": _forms,
}
