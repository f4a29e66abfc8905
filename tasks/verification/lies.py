"""Lies by kind: a part of a sentence is exchanged, reversed, added or left out.

They teach the verifier what a passage does not say, without labels. A lie is made from a sentence. If it needs words
from elsewhere, they come from other sentences of the same passage (`near`, the hardest) or of others."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from models.values import OPENERS
from tasks.engine.hashing import Dice
from tasks.verification.frames import Frame, framed
from tasks.verification.words import BOUNDS, NEGATORS, ORDERING, UNITS, WordKind, antonyms, read, small_words, stem

_RUN = re.compile(r"[A-Z][\w’'-]*(?: (?:of |the |de |van )?[A-Z][\w’'-]*)*")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?")
_MONTHS = [name.capitalize() for name in small_words("months")]
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|might|should|must|does|did)\b")
_PAST = re.compile(r"\b([a-z]{2,})ed\b")
_AUXILIARY_OR_PAST = re.compile(rf"{_AUXILIARY.pattern}|{_PAST.pattern}")
_COUNT = re.compile(rf"{_NUMBER.pattern}|\b(?:{'|'.join(small_words('numbers')[2:13])})\b")
_TURNED = {"at least": "at most", "more than": "fewer than", "over": "under", "above": "below", "up to": "at least"}
_TURNED |= {other: one for one, other in list(_TURNED.items())[:4]} | {"nearly": "more than", "almost": "over"}
_LIMIT = re.compile(rf"\b(?:{'|'.join(_TURNED)})(?= [\d$£€])")
_ONE_WORD = tuple(sorted({word for words in BOUNDS.values() for word in words} - {"more", "some", "both", "up", "all"}))


@dataclass(frozen=True)
class Others:
    """Sentences that a lie takes words from."""

    near: Sequence[str]  # other sentences of the passage
    far: Sequence[str]  # sentences of other passages


_OTHER_TIMES = {"was": "is", "were": "are", "is": "is no longer", "are": "are no longer"}
_STATE = re.compile(r"\b(?:was|were|is|are)\b(?! (?:not|no)\b)")
Maker = Callable[[str, Others, Dice], Iterator[str]]


def lies(sentence: str, others: Others, dice: Dice) -> Iterator[tuple[str, str]]:
    """Yield (kind, lie) for each kind that the sentence allows, at most one of each."""
    for kind, maker in KINDS.items():
        made = list(dict.fromkeys(lie for lie in maker(sentence, others, dice) if _differs(lie, sentence, others)))
        if made:
            yield kind, dice.pick(made)


def _differs(lie: str, sentence: str, others: Others) -> bool:
    """Tell whether a lie is one: its words differ from the sentence's, and their order from those of its neighbours."""
    words = _keys(lie)
    return len(words) > 2 and words != _keys(sentence) and all(words != _keys(near) for near in others.near)


def _keys(text: str) -> list[str]:
    return [word.key for word in read(text).words]


def _names(text: str) -> list[re.Match[str]]:
    """Return the runs of capitalised words; one that opens a sentence needs a second capital."""
    return [match for match in _RUN.finditer(text) if match.start() or " " in match[0]]


def _other_name(sentences: Sequence[str], sentence: str, dice: Dice) -> Iterator[str]:
    there = sorted({m[0] for other in sentences for m in _names(other)})
    there = [name for name in there if name.split()[0].lower() not in OPENERS and len(name) > 2]
    options = [name for name in there if not set(name.lower().split()) & set(sentence.lower().split())]
    for match in _names(sentence):
        if options and len(match[0]) > 1 and match[0].split()[0].lower() not in OPENERS:
            yield _put(sentence, match, dice.pick(options))


def _put(text: str, match: re.Match[str], new: str) -> str:
    return f"{text[: match.start()]}{new}{text[match.end() :]}"


def _number_near(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    own = {match[0] for match in _NUMBER.finditer(sentence)}
    there = sorted({m[0] for other in others.near for m in _NUMBER.finditer(other)} - own)
    for match in _NUMBER.finditer(sentence):
        if options := [number for number in there if _is_year(number) == _is_year(match[0])]:
            yield _put(sentence, match, dice.pick(options))


def _is_year(number: str) -> bool:
    return len(number) == 4 and number.isdigit() and number[:2] in {"16", "17", "18", "19", "20"}


def _number(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in _NUMBER.finditer(sentence):
        if _is_year(match[0]):
            continue
        digits = match[0]
        place = dice.pick([i for i, c in enumerate(digits) if c.isdigit()])
        yield _put(sentence, match, f"{digits[:place]}{dice.pick('123456789')}{digits[place + 1 :]}")


def _date(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in _NUMBER.finditer(sentence):
        if _is_year(match[0]):
            yield _put(sentence, match, str(int(match[0]) + dice.pick((-20, -10, -7, -3, -2, -1, 1, 2, 3, 9, 10))))
    for match in _WORD.finditer(sentence):
        if match[0] in _MONTHS and match[0] != "May":
            yield _put(sentence, match, dice.pick([month for month in _MONTHS if month != match[0]]))


def _unit(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in _WORD.finditer(sentence):
        before = sentence[: match.start()].rstrip(" -")
        if not before[-1:].isdigit():
            continue
        for group in UNITS:
            if match[0] in group:
                yield _put(sentence, match, dice.pick([unit for unit in group if unit != match[0]]))


def _splice(sentence: str, sentences: Sequence[str], dice: Dice) -> Iterator[str]:
    """Yield the beginning of a sentence with the end of another one, cut before verbs or at commas, and back."""
    for most, turned in ((3, False), (2, True)):
        for other in dice.sample(sentences, most):
            first, second = (other, sentence) if turned else (sentence, other)
            heads, tails = _cuts(first), _cuts(second)
            if heads and tails:
                yield f"{first[: dice.pick(heads)].rstrip(' ,')} {second[dice.pick(tails) :].lstrip(' ,')}"


def _cuts(sentence: str) -> list[int]:
    words = list(_WORD.finditer(sentence))
    inner = words[1:-2]
    return [m.start() for m in inner if _AUXILIARY.fullmatch(m[0]) or _PAST.fullmatch(m[0]) or m[0] in _JOINTS]


_JOINTS = frozenset(["and", "but", "which", "who", "where", "when", "because", "in", "by", "for", "with", "from", "to"])


def _splice_near(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    # Joining two sentences about one subject may keep the truth; joining those about two does not.
    own = _about(sentence)
    return _splice(sentence, [other for other in others.near if own and (a := _about(other)) and not a & own], dice)


def _joined(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence and one of another passage in one."""
    for other in dice.sample(others.far, 2):
        yield f"{sentence.rstrip('.')}{dice.pick((',', ''))} and {_low(other)}"


def _about(sentence: str) -> frozenset[str]:
    """Return the content words before the first verb; none for a pronoun or an empty subject."""
    return frozenset(word.key for word in read(_leading(sentence)).words if word.kind)


def _negated(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in list(_AUXILIARY.finditer(sentence))[:2]:
        after = sentence[match.end() :].lstrip().partition(" ")[0].lower()
        if after not in NEGATORS:
            yield _put(sentence, match, f"{match[0]} {dice.pick(('not', 'never', 'not'))}")
    for match in list(_PAST.finditer(sentence))[:1]:
        if " " in sentence[: match.start()].strip() and sentence[: match.start()].split()[-1].lower() not in _NO_VERB:
            stem_ = match[1] if match[1][-1:] not in "vscg" else f"{match[1]}e"
            yield _put(sentence, match, f"{dice.pick(('did not', 'never', 'failed to'))} {stem_}")


_NO_VERB = frozenset(small_words("before_participles"))


def _affirmed(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in re.finditer(r" (?:not|never)\b|(?<=[a-z])n['’]t\b", sentence):
        if not sentence[match.end() :].startswith((" only", " just")):
            yield _put(sentence, match, "")
    for match in re.finditer(r"\b(?:no|without)\b", sentence):
        yield _put(sentence, match, {"no": "some", "without": "with"}[match[0]])


def _antonym(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence with a word's opposite; the form is the closest of those that are listed."""
    for match in list(_WORD.finditer(sentence))[1:]:
        options = antonyms().get(match[0].lower(), [])
        if match[0] in _FUNCTION_PAIRS or not options:
            continue
        ending = _ending(match[0])
        alike = [word for word in options if _ending(word) == ending] or options[:1]
        word = dice.pick(alike[:4])
        yield _put(sentence, match, word.capitalize() if match[0][0].isupper() else word)


_FUNCTION_PAIRS = frozenset(["he", "she", "him", "her", "his", "hers", "with", "without", "no", "none", "all"])


def _ending(word: str) -> str:
    return next((ending for ending in ("ing", "ed", "est", "er", "ly", "s") if word.endswith(ending)), "")


def _subject(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence about another subject: that of another sentence of the passage."""
    own = _leading(sentence)
    for other in dice.sample(others.near, 4):
        if _about(sentence) and _about(other) and not _about(sentence) & _about(other):
            yield _leading(other) + sentence[len(own) :]


def _leading(sentence: str) -> str:
    """Return the words before the first verb that is seen, if they are few."""
    match = _AUXILIARY.search(sentence) or _PAST.search(sentence)
    lead = sentence[: match.start()].rstrip() if match else ""
    return lead if 0 < len(lead.split()) <= 6 and "," not in lead else ""


def _role(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence with two names exchanged, unless they are only listed."""
    names = [match for match in _RUN.finditer(sentence) if not (match.start() == 0 and len(match[0]) < 4)]
    for a, b in pairwise(names):
        between = sentence[a.end() : b.start()]
        if between.strip() in {"and", "or", ",", "&", ", and", "/", "-", "("} or a[0] == b[0] or ", " in between:
            continue
        if len(between.split()) >= 1 and not {a[0], b[0]} & set(_MONTHS):
            yield f"{sentence[: a.start()]}{b[0]}{between}{a[0]}{sentence[b.end() :]}"


def _voice(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence with its agent and patient exchanged, by its verb's voice."""
    for match in re.finditer(r"\b(?:was|were) ([a-z]{2,}ed) by\b", sentence):
        yield _put(sentence, match, match[1])
    for match in list(_PAST.finditer(sentence))[:1]:
        before = sentence[: match.start()].split()
        of_a_thing = sentence[match.end() :].startswith((" the ", " a ", " an "))
        if of_a_thing and before and before[-1].lower() not in _NO_VERB:
            yield _put(sentence, match, f"was {match[0]} by")


def _bound(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in list(_WORD.finditer(sentence))[1:-1]:
        if match[0] in _ONE_WORD and match[0] not in {"may", "might", "could", "would", "should", "claims", "plans"}:
            yield f"{sentence[: match.start()].rstrip()} {sentence[match.end() :].lstrip()}"
        elif match[0] in {"may", "might", "could"}:
            yield _put(sentence, match, "will")
    for phrase in (" at least", " at most", " up to", " more than", " less than", " fewer than", " part of", " one of"):
        if phrase in sentence:
            yield sentence.replace(phrase, "", 1)


def _bound_turned(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in _LIMIT.finditer(sentence):
        yield _put(sentence, match, _TURNED[match[0]])


def _exchanged(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence with two of its numbers in each other's place, years with years."""
    for a, b in pairwise(_COUNT.finditer(sentence)):
        if a[0] != b[0] and _is_year(a[0]) == _is_year(b[0]):
            yield f"{sentence[: a.start()]}{b[0]}{sentence[a.end() : b.start()]}{a[0]}{sentence[b.end() :]}"


def _bound_added(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    for match in list(_NUMBER.finditer(sentence))[:2]:
        if not _is_year(match[0]) and match.start():
            word = dice.pick(("about", "only", "at least", "more than", "fewer than", "nearly", "up to"))
            yield _put(sentence, match, f"{word} {match[0]}")
    for match in list(_AUXILIARY.finditer(sentence))[:1]:
        yield _put(sentence, match, f"{match[0]} {dice.pick(('only', 'reportedly', 'always', 'allegedly', 'mostly'))}")


def _turned(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence with the parts before and after a word such as "because" exchanged, or the word turned."""
    for match in list(_WORD.finditer(sentence))[2:-2]:
        word = match[0]
        if word not in ORDERING or word == "over":
            continue
        before = sentence[: match.start()].strip(" ,")
        after = sentence[match.end() :].strip(" ,.")
        if len(after.split()) > 1:
            named = before[:1].isupper() and before.split()[0] in {m[0] for m in _names(before)}
            head = before if named else _low(before)
            yield f"{after[:1].upper()}{after[1:]} {word} {head}."
        if word in {"before", "after"}:
            yield _put(sentence, match, "after" if word == "before" else "before")


def _unframed(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield a clause without who says it, whether it is denied, or that it is a story."""
    for part in framed(sentence):
        clause = sentence[part.start : part.end].strip(' ,“”"').removeprefix("that ")
        if part.frame is not Frame.UNCERTAIN and len(clause.split()) > 3 and _AUXILIARY_OR_PAST.search(clause):
            yield f"{clause[:1].upper()}{clause[1:].rstrip('.')}."


def _now(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield a past state as a present one, or a present one as over."""
    for match in _STATE.finditer(sentence):
        yield _put(sentence, match, _OTHER_TIMES[match[0]])
    for match in re.finditer(r"\b(?:former|formerly|no longer) ", sentence):
        yield _put(sentence, match, "")


def _rank(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield a sentence with another rank: "the second largest" as "the largest", and back."""
    for match in re.finditer(r"\b(?:second|third|fourth|fifth)[- ](?=[a-z]+est\b)", sentence):
        yield _put(sentence, match, "")
    for match in re.finditer(r"\bone of the (?=(?:most )?[a-z]+(?:est)?\b)", sentence):
        yield _put(sentence, match, "the ")
    for match in re.finditer(r"\bthe (?=(?:larg|old|long|high|tall|great|deep|fast|big)\w*est\b)", sentence):
        yield _put(sentence, match, dice.pick(("the second ", "one of the ", "the third ")))


def _points(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield percent as percentage points, and back."""
    for match in re.finditer(r"(?<=\d)(?:%| per ?cent)(?!\w)", sentence):
        yield _put(sentence, match, " percentage points")
    for match in re.finditer(r"(?<=\d) percentage points?", sentence):
        yield _put(sentence, match, " percent")


def _low(text: str) -> str:
    first = text.split(" ")[0]
    return text if len(first) > 1 and first.isupper() else text[:1].lower() + text[1:]


def _word(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence with an ordinary word replaced by one with the same ending from another sentence."""
    pool: dict[str, set[str]] = {}
    for other in (*others.near, *others.far[:20]):
        for word in _ordinary(other):
            pool.setdefault(_ending(word), set()).add(word)
    own = {word.key for word in read(sentence).words}
    for match in list(_WORD.finditer(sentence))[1:]:
        if match[0].islower() and len(match[0]) > 3 and stem(match[0]) in own:
            options = sorted(word for word in pool.get(_ending(match[0]), ()) if stem(word) not in own)
            if options and match[0] in _ordinary(sentence):
                yield _put(sentence, match, dice.pick(options))


def _words(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the sentence with two to four other ordinary words."""
    changed = sentence
    for count in range(4):
        made = list(_word(changed, others, dice))
        if not made:
            return
        changed = dice.pick(made)
        if count:
            yield changed


def _invented(sentence: str, others: Others, dice: Dice) -> Iterator[str]:
    """Yield the subject of the sentence with the predicate of another article's sentence."""
    if not (own := _leading(sentence)):
        return
    for other in dice.sample(others.far, 6):
        if theirs := _leading(other):
            yield own + other[len(theirs) :]


def _ordinary(text: str) -> list[str]:
    return [word.text for word in read(text).words if word.kind is WordKind.WORD and len(word.text) > 3]


KINDS: dict[str, Maker] = {
    "name": lambda sentence, others, dice: _other_name(others.far, sentence, dice),
    "name, near": lambda sentence, others, dice: _other_name(others.near, sentence, dice),
    "number": _number,
    "number, near": _number_near,
    "date": _date,
    "unit": _unit,
    "splice": lambda sentence, others, dice: _splice(sentence, others.far, dice),
    "splice, near": _splice_near,
    "joined": _joined,
    "negated": _negated,
    "affirmed": _affirmed,
    "antonym": _antonym,
    "subject": _subject,
    "role": _role,
    "voice": _voice,
    "bound dropped": _bound,
    "bound added": _bound_added,
    "bound turned": _bound_turned,
    "exchanged": _exchanged,
    "order": _turned,
    "word": _word,
    "words": _words,
    "invented": _invented,
    "frame dropped": _unframed,
    "time": _now,
    "rank": _rank,
    "points": _points,
}
