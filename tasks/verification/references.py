"""References in a passage: pronouns, and words such as "the tower", replaced by names.

Only what is certain is replaced. A sentence that begins with "It" or "The tower" is about the article's subject, if the
passage does not name the subject. "She" at the beginning of a sentence is the person whom the previous sentence begins
with, if that sentence names nobody else."""

import re
from collections.abc import Iterator
from functools import lru_cache

from models.sentences import split_sentences
from models.values import OPENERS
from tasks.text.content_words import subject_of
from tasks.verification.words import read, small_words

_PRONOUN = re.compile(r"(?:It|He|She|They)(?= )")
_POSSESSIVE = re.compile(r"(?:Its|His|Her|Their)(?= )")
_NOUN = re.compile(r"(?:The|This)(?= [a-z])")
_NAME = re.compile(r"(?:The )?(?P<name>[A-Z][\w’'-]+(?: (?:of |de |van |von )?[A-Z][\w’'-]+)*)")
_PLACED = frozenset(small_words("prepositions")) | {"the", "and"}
_REMEMBERED = 2048  # passages


def in_context(passage: str, title: str, sentence: str) -> str:
    """Return a passage in which sentences that only refer to their subject name it, if `sentence` has the name.
    `passage`: source text of an article; `title`: of the article, "" = none; `sentence`: that the passage may say."""
    named = {word.key for word in read(sentence).words}
    subject = {word.key for word in read(title).words if word.kind} if title else set()
    if subject & named and not subject & named <= read(passage).stems:
        return _about_subject(passage, subject_of(title))
    resolved = [
        text if name is None or not read(name).stems <= named else _about(text, name)
        for text, name in _antecedents(passage)
    ]
    return (
        "\n".join(resolved)
        if any(a is not b for a, b in zip(resolved, read(passage).sentences, strict=True))
        else passage
    )


@lru_cache(maxsize=_REMEMBERED)
def _about_subject(passage: str, subject: str) -> str:
    return "\n".join(_about(sentence, subject, nouns=True) for sentence in split_sentences(passage))


@lru_cache(maxsize=_REMEMBERED)
def _antecedents(passage: str) -> tuple[tuple[str, str | None], ...]:
    """Return each sentence of a passage with the name that its first pronoun stands for; None where it is not sure."""
    results: list[tuple[str, str | None]] = []
    before: str | None = None
    for sentence in read(passage).sentences:
        begins = _PRONOUN.match(sentence) or _POSSESSIVE.match(sentence)
        plural = sentence.startswith(("They ", "Their "))
        name = before if begins and not plural else None
        results.append((sentence, name))
        before = _only_name(sentence) if not begins else (name if not list(_others(sentence, 0)) else None)
    return tuple(results)


def _only_name(sentence: str) -> str | None:
    """Return the name that a sentence begins with, if it names no other that a pronoun could stand for."""
    match = _NAME.match(sentence)
    if match is None or match["name"].split()[0].lower() in OPENERS or list(_others(sentence, match.end())):
        return None
    return match["name"]


def _others(sentence: str, start: int) -> Iterator[str]:
    """Yield the names after a character that do not follow a preposition: places and times do."""
    for match in _NAME.finditer(sentence, start):
        before = sentence[: match.start()].split()
        if before and before[-1].lower() not in _PLACED:
            yield match["name"]


def _about(sentence: str, subject: str, *, nouns: bool = False) -> str:
    if match := _PRONOUN.match(sentence):
        return subject + sentence[match.end() :]
    if match := _POSSESSIVE.match(sentence):
        return f"{subject}'s{sentence[match.end() :]}"
    if nouns and (match := _NOUN.match(sentence)):
        return f"{subject}, {match[0].lower()}{sentence[match.end() :]}"
    return sentence
