"""A passage of an article as readers take it: what begins with "It" or "The tower" is about the article's subject."""

import re
from functools import lru_cache

from models.sentences import split_sentences
from tasks.text.content_words import subject_of
from tasks.verification.words import read

_PRONOUN = re.compile(r"(?:It|He|She|They)(?= )")
_POSSESSIVE = re.compile(r"(?:Its|His|Her|Their)(?= )")
_NOUN = re.compile(r"(?:The|This)(?= [a-z])")
_REMEMBERED = 2048


def in_context(passage: str, title: str, sentence: str) -> str:
    """Return a passage whose sentences name the subject, where a sentence names it and the passage does not.

    Args:
        passage: source text of an article.
        title: of the article; empty if there is none.
        sentence: that the passage may say.
    """
    if not title:
        return passage
    subject = {word.key for word in read(title).words if word.kind}
    named = subject & {word.key for word in read(sentence).words}
    return passage if named <= read(passage).index.keys.keys() else _resolved(passage, subject_of(title))


@lru_cache(maxsize=_REMEMBERED)
def _resolved(passage: str, subject: str) -> str:
    return "\n".join(_about(sentence, subject) for sentence in split_sentences(passage))


def _about(sentence: str, subject: str) -> str:
    if match := _PRONOUN.match(sentence):
        return subject + sentence[match.end() :]
    if match := _POSSESSIVE.match(sentence):
        return f"{subject}'s{sentence[match.end() :]}"
    if match := _NOUN.match(sentence):
        return f"{subject}, {match[0].lower()}{sentence[match.end() :]}"
    return sentence
