"""The marks of notes and references in a page's prose: "signed [3, 4].", "signed.12 The", "men12 who"."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

_WORD = re.compile(r"[^\W\d_]+")
_BEFORE_NUMBER = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?= \d)")
# What follows a number in brackets separates it from a link in Markdown and from an element of an array.
_BRACKETED = re.compile(
    r"\[(?:(?:(?:note|nb) )?[1-9]\d{0,2}(?:[,–-] ?\d{1,3}){0,20}|citation needed)\](?=[\s.,;:!?)\"”’\[]|$)(?! ?=)",
    re.MULTILINE,
)
_CITED = re.compile(r"(?:(?<![^\W_])(?P<word>[^\W_]{3,})|[.,;:!?\"”’)%]|\w\]) ?\Z")
_CITING = re.compile("also|and|from|per|references?|refs?|see|than|the|with", re.IGNORECASE)  # "see [12]" needs it
_GLUED = re.compile(
    r"[1-9](?<=(?:[^\W\d_]|[.,;!?\"”’)])[1-9])\d{0,2}(?=(?P<mark>[.,;:)]?)(?:\s+(?P<next>\S)|$))", re.MULTILINE
)
_NOTED = re.compile(r"(?<![^\W_])(?P<word>[^\W\d_]*[^\W\d_]{2})(?P<end>[.,;!?]?[\"”’)]?[.,;]?)\Z")
_REACH = 30  # characters before a number within which its word begins
_SHORTEST = 4  # letters of a word that has a number of a note, without a mark between
_ABBREVIATED = re.compile(
    "apr|art|aug|cap|chaps?|chs|dec|eqs?|feb|figs?|jan|jul|jun|mar|nos?|nov|oct|pp|sec|sept?|sect|ver|vols?",
    re.IGNORECASE,
)
_NEAR = 4  # marks before and after a mark, among which the number before or after its own is looked for


def without_reference_marks(lines: Sequence[str]) -> list[str]:
    """Return the lines of a document without the marks of notes and references in them. A number in brackets is one
    after a word that does not need it. A number glued to a word or to the end of a sentence is one only if a mark near
    it, on another word, has the number before or after its own. So "Windows10" and "area14" have no marks. Without
    another mark between, the word must occur elsewhere without a number, and nowhere before one ("Table 3")."""
    text = "\n".join(lines)
    bracketed = ((match, text[max(0, match.start() - _REACH) : match.start()]) for match in _BRACKETED.finditer(text))
    spans = [
        (match.start() - before.endswith(" "), match.end())
        for match, before in bracketed
        if (cited := _CITED.search(before)) and not _CITING.fullmatch(cited["word"] or "")
    ]
    spans = sorted([*spans, *_notes(text)])
    kept = zip([0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)], strict=True)
    return "".join(text[start:end] for start, end in kept).split("\n")


def _notes(text: str) -> Iterator[tuple[int, int]]:
    """Find the numbers of notes that are glued to words and marks."""
    found = [
        (match, _NOTED.search(text, max(0, match.start() - _REACH), match.start())) for match in _GLUED.finditer(text)
    ]
    marks = [
        (match, noted["word"].casefold(), noted["end"]) for match, noted in found if noted and _may_be(match, noted)
    ]
    if len(marks) < 2:
        return
    numbers = [(word, int(match[0])) for match, word, _ in marks]
    glued = Counter(word for word, _ in set(numbers))
    folded = text.casefold() if any(not end for _, _, end in marks) else ""
    words, before_numbers = Counter(_WORD.findall(folded)), frozenset(_BEFORE_NUMBER.findall(folded))
    for i, (match, word, end) in enumerate(marks):
        near = [*numbers[max(0, i - _NEAR) : i], *numbers[i + 1 : i + 1 + _NEAR]]
        counts = any(abs(numbers[i][1] - other) == 1 and word != name for name, other in near)
        if counts and (end or (glued[word] == 1 < words[word] and word not in before_numbers)):
            yield match.span()


def _may_be(number: re.Match[str], noted: re.Match[str]) -> bool:
    """Tell whether a note may be there: on a whole word in lower case, or after a sentence, before a new one."""
    word, end = noted["word"], noted["end"].rstrip('"”’)')[-1:]
    if not noted["end"]:
        return len(word) >= _SHORTEST and word[1:].islower()
    ends = end in {".", "!", "?"}
    return not number["mark"] and not (ends and (_ABBREVIATED.fullmatch(word) or (number["next"] or "").islower()))
