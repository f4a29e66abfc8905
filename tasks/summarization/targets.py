"""What a summarizer learns of a lead where it shall learn no value that it does not read: the supported sentences.

Training on the others teaches it to invent values (Nan et al. 2021). The sentence that defines the subject has most
values and is often among them; the next one then says "he" of nobody, and a summarizer would learn to begin so. Hence
the first sentence learned names the subject where another word stands for it."""

import re
from collections.abc import Sequence

from models.sentences import split_sentences
from models.values import ValueIndex
from tasks.evaluation.citations import ValueSupport
from tasks.text.content_words import names_subject, subject_of, words_of

# Words with "the" by which English leads speak of their subject, besides those with which they define it.
_KIND_NAMES = """
    aircraft airport album band book bridge building church city club company district film firm game group island lake
    magazine mountain museum newspaper novel organisation organization party plant play project river school series
    ship show song species station team town university village
"""
_KINDS = frozenset(_KIND_NAMES.split())
_PRONOUN = re.compile(r"(?:he|she|they|it(?! (?:is|was) \w+ that\b))(?= )", re.IGNORECASE)
_KIND = re.compile(r"the ([a-z]+)(?= [a-z]+)", re.IGNORECASE)
_NAME = re.compile(r"(?:the )?([^\s,;:()]+(?: [^\s,;:()]+){0,6}?)(?= [a-z])")


def supported_sentences(title: str, lead: str, paragraphs: Sequence[str]) -> list[str]:
    """Return the sentences of a lead whose names, numbers and dates all occur in the title or the paragraphs, the first
    of them with the name of the subject if another word stood for it."""
    context, shown = ValueIndex([title, *paragraphs, lead]), ValueIndex([title, *paragraphs])
    support = ValueSupport(title, context)
    sentences = split_sentences(lead)
    kept = [line for line in sentences if all(value in shown for value in support.values(line))]
    return [name_subject(kept[0], title, sentences[0]), *kept[1:]] if kept else []


def name_subject(sentence: str, title: str, definition: str) -> str:
    """Return a sentence of a lead with the subject's name in place of what stands for it as the first words, or after
    the first comma: a pronoun, a part of the name, or "the" and a word for its kind. It is returned as it is if it
    names the subject, or nothing stands there for it. The definition, the lead's first sentence, says of what kind the
    subject is, and whether its name has "the"."""
    if names_subject(sentence, title):
        return sentence
    name = subject_of(title)
    if definition.casefold().startswith(f"the {name.casefold()}"):
        name = f"the {name}"
    clause, comma, _ = sentence.partition(", ")
    for start in (0, len(clause) + len(comma)) if comma else (0,):
        if length := _stands_for(sentence[start:], name, definition):
            written = name if start else name[:1].upper() + name[1:]
            return f"{sentence[:start]}{written}{sentence[start + length :]}"
    return sentence


def _stands_for(text: str, name: str, definition: str) -> int:
    """Return how many characters at the beginning of a text stand for the subject, 0 for none."""
    if match := _PRONOUN.match(text):
        return match.end()
    if (match := _KIND.match(text)) and (match[1] in _KINDS or match[1] in words_of(definition)):
        return match.end()
    if (match := _NAME.match(text)) and match[1][0].isupper():
        words = words_of(match[1])
        if f" {' '.join(words)} " in f" {' '.join(words_of(name))} ":
            return match.end()
    return 0
