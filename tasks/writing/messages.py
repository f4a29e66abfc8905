"""Requests to a writer. Title and passages are JSON, so that their text cannot leave its place."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tasks.chat.completions import Message
from tasks.engine.data_files import read_data
from tasks.engine.hashing import stable_hash

_TOLD: dict[str, str] = read_data("tasks.writing", "prompts.toml")
_WRITE, _OUTLINE, _MEND = (_TOLD[name].replace("<DATA>", _TOLD["data"]) for name in ("write", "outline", "mend"))
_ONE: str = _TOLD["one"]
DIGEST = f"{stable_hash(_WRITE, _OUTLINE, _MEND, _ONE):016x}"  # part of the recipe: other requests give other summaries


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
    """Return the request for sentences. `passages`: as of `passage_json`. `words`: length to ask for. `language`: ISO
    639-1 code, None = that of the passages. `heading`: of the section to write, "" for a whole summary. `told`:
    sentences of sections before it."""
    asked = f"Write about {words} words in {_language(language)}."
    if heading:
        asked += f" Write only the section {json.dumps(heading, ensure_ascii=False)}."
    if told:
        asked += f" Said before, and not to be said again: {json.dumps(list(told), ensure_ascii=False)}"
    return [{"role": "system", "content": _WRITE}, _material(title, passages, asked)]


def one_messages(title: str, passage: str, language: str | None) -> list[Message]:
    """Return the request for a sentence or two on one passage, in plain words; `language` as of `write_messages`."""
    asked = _ONE.replace("<TITLE>", " ".join(title.split())).replace("<TEXT>", " ".join(passage.split()))
    other = "" if language in (None, "en") else f" Write in {_language(language)}."
    return [{"role": "user", "content": asked + other}]


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
