"""What a language model wrote, read with tolerance: JSON, JSON that ends early, or prose with numbers in brackets."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from models.sentences import split_sentences

_MOST = 50_000  # characters of an answer that are read
_LONGEST = 600  # characters of a sentence
_HEADING = 80  # of a heading
_MOST_SENTENCES = 300
_OBJECT = re.compile(r"\{[^{}]*\}")
_CITED = re.compile(r"(?<!\s)\s*[\[【](?:passages? )?(\d{1,3}(?: ?[,;] ?\d{1,3})*)[\]】]", re.IGNORECASE)
_AFTER_STOP = re.compile(
    r"([.!?])( ?[\[【]\d[\d,; ]*[\]】])"
)  # "It is long.[1] It is red.": it belongs before the stop
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_TAG = re.compile(r"<[^<>]*>")
_MARKUP = re.compile(r"(?:\*\*|__|`)|^[ \t]*(?:#{1,6}|[*>•-])[ \t]+", re.MULTILINE)


@dataclass(frozen=True)
class Draft:
    """A sentence as a model wrote it, without markup, and the ranks of the passages that it cites, if they exist."""

    text: str
    ranks: tuple[int, ...] = ()


def read_sentences(answer: str, passages: int) -> list[Draft]:
    """Return the sentences of an answer; numbers of passages that were not sent are left out. `answer`: whatever a
    model wrote; `passages`: how many there are; their numbers begin at 1."""
    text = _spoken(answer)
    objects = list(_objects(text, "text"))
    if not objects and "{" not in text:
        objects = [(sentence, []) for sentence in split_sentences(_AFTER_STOP.sub(r"\2\1", _MARKUP.sub("", text)))]
    drafts = []
    for said, numbers in objects:
        cited = [int(number) for group in _CITED.findall(said) for number in re.findall(r"\d+", group)]
        ranks = tuple(dict.fromkeys(n - 1 for n in (*_numbers(numbers), *cited) if 1 <= n <= passages))
        # What is not one sentence when it is read again could not be found again in the summary.
        drafts += [
            Draft(sentence, ranks)
            for sentence in split_sentences(_plain(_CITED.sub("", said)))
            if len(sentence) <= _LONGEST and split_sentences(sentence) == [sentence]
        ]
    return drafts[:_MOST_SENTENCES]


def read_sections(answer: str, passages: int) -> list[tuple[str, tuple[int, ...]]]:
    """Return headings and ranks of an outline's sections, each passage in one; those without any are left out."""
    found, used = [], set[int]()
    for heading, numbers in _objects(_spoken(answer), "heading"):
        ranks = tuple(n - 1 for n in dict.fromkeys(_numbers(numbers)) if 1 <= n <= passages and n - 1 not in used)
        used.update(ranks)
        if ranks:
            found.append((" ".join(_plain(heading).split())[:_HEADING], ranks))
    return found


def _spoken(answer: str) -> str:
    """Return an answer without what a model thought aloud before it."""
    return answer[-_MOST:].rpartition("</think>")[2] if "</think>" in answer else answer[:_MOST]


def _objects(text: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the text under a name and the passages of each object that has it, of whole JSON or of what there is."""
    start, end = text.find("{"), text.rfind("}")
    try:
        whole = json.loads(text[start : end + 1])
        found = [whole, *(one for many in whole.values() if isinstance(many, list) for one in many)]
    except (ValueError, AttributeError, RecursionError):
        found = [_loaded(one) for one in _OBJECT.findall(text)]
    for one in found:
        if isinstance(one, dict) and isinstance(one.get(name), str):
            yield one[name], one.get("passages")


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _numbers(given: Any) -> list[int]:
    """Return the whole numbers of a list, written as numbers or as text."""
    every = given if isinstance(given, list) else [given]
    digits = [str(one) for one in every if isinstance(one, int | str) and not isinstance(one, bool)]
    return [int(one) for one in digits if re.fullmatch(r"[0-9]{1,6}", one)]


def _plain(text: str) -> str:
    """Return a text without links, tags and Markdown, on one line a sentence."""
    return " ".join(_MARKUP.sub("", _TAG.sub("", _LINK.sub(r"\1", text))).split())
