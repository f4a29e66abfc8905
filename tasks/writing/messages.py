"""What a writer is asked, and what it answers. Title and passages are JSON, so that no text of theirs can leave its
place; answers are read with tolerance: JSON, JSON that ends early, or prose with numbers in brackets."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from models.sentences import split_sentences
from tasks.chat.client import Message
from tasks.engine.data_files import read_data
from tasks.engine.hashing import stable_hash

_TOLD: dict[str, str] = read_data("tasks.writing", "prompts.toml")
_WRITE, _OUTLINE, _MEND = (_TOLD[name].replace("<DATA>", _TOLD["data"]) for name in ("write", "outline", "mend"))
DIGEST = f"{stable_hash(_WRITE, _OUTLINE, _MEND):016x}"  # part of the recipe: other words give other summaries
_MOST = 50_000  # characters of an answer that are read
_LONGEST = 600  # characters of a sentence
_HEADING = 80  # of a heading
_MOST_SENTENCES = 300
_OBJECT = re.compile(r"\{[^{}]*\}")
_CITED = re.compile(r"(?<!\s)\s*[\[【](?:passages? )?(\d{1,3}(?: ?[,;] ?\d{1,3})*)[\]】]", re.IGNORECASE)
# "It is long.[1] It is red.": it belongs before the stop.
_AFTER_STOP = re.compile(r"([.!?])( ?[\[【]\d[\d,; ]*[\]】])")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_TAG = re.compile(r"<[^<>]*>")
_MARKUP = re.compile(r"(?:\*\*|__|`)|^[ \t]*(?:#{1,6}|[*>•-])[ \t]+", re.MULTILINE)


def _schema(name: str, items: str, text: str) -> dict[str, Any]:
    """Return the `response_format` of a list of objects with a text and numbers of passages."""
    fields = {text: {"type": "string"}, "passages": {"type": "array", "items": {"type": "integer"}}}
    one = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    every = {items: {"type": "array", "items": one}}
    whole = {"type": "object", "properties": every, "required": [items], "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": whole}}


SENTENCES = _schema("summary", "sentences", "text")
SECTIONS = _schema("outline", "sections", "heading")


def passage_json(rank: int, text: str) -> str:
    """Return a passage as it is sent; its number is its rank from 1."""
    return json.dumps({"number": rank + 1, "text": " ".join(text.split())}, ensure_ascii=False)


def write_messages(
    title: str,
    passages: Iterable[str],
    words: int,
    language: str | None,
    *,
    heading: str = "",
    told: Sequence[str] = (),
) -> list[Message]:
    """Return the request for sentences. `passages`: as of `passage_json`; `words`: length to ask for; `language`: ISO
    639-1 code, None = that of the passages; `heading`: of the section to write, "" for a whole summary; `told`:
    sentences of sections before it."""
    asked = f"Write about {words} words in {_language(language)}."
    if heading:
        asked += f" Write only the section {json.dumps(heading, ensure_ascii=False)}."
    if told:
        asked += f" Said before, and not to be said again: {json.dumps(list(told), ensure_ascii=False)}"
    return [{"role": "system", "content": _WRITE}, _material(title, passages, asked)]


def outline_messages(title: str, passages: Iterable[str], sections: int, language: str | None) -> list[Message]:
    """Return the request for an outline of so many sections; the other arguments as for `write_messages`."""
    asked = f"Plan {sections} sections, with headings in {_language(language)}."
    return [{"role": "system", "content": _OUTLINE}, _material(title, passages, asked)]


def mend_messages(written: Sequence[tuple[str, Sequence[int]]], faults: Sequence[tuple[str, str]]) -> list[Message]:
    """Return what follows a request: its answer as it was understood, and the sentences that fail, each with why."""
    draft = {"sentences": [{"text": text, "passages": [rank + 1 for rank in ranks]} for text, ranks in written]}
    reasons = [{"text": text, "reason": reason} for text, reason in faults]
    return [
        {"role": "assistant", "content": json.dumps(draft, ensure_ascii=False)},
        {"role": "user", "content": f"{_MEND}\n{json.dumps(reasons, ensure_ascii=False)}"},
    ]


def _material(title: str, passages: Iterable[str], asked: str) -> Message:
    subject = json.dumps(" ".join(title.split()), ensure_ascii=False)
    listed = ",\n".join(passages)
    return {"role": "user", "content": f'{{"subject": {subject}, "passages": [\n{listed}\n]}}\n\n{asked}'}


def _language(code: str | None) -> str:
    return "the language of the passages" if code is None else f"the language with the code {code!r}"


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
