"""The text that a page has in its data and not in its elements, because a script would write it. It comes from the
article of its JSON-LD (schema.org), and the longest texts of the state that frameworks embed (`__NEXT_DATA__` and
others)."""

import json
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree, html

from tasks.extraction.markup import parse_part

_BODIES = ("articleBody", "reviewBody", "text")
_STATE = re.compile(r"__(?:NEXT_DATA|NUXT_DATA|NUXT|APOLLO_STATE|INITIAL_STATE|PRELOADED_STATE|SERVER_DATA)__")
_ASSIGNED = re.compile(r"\A[^={]{0,120}=\s*(?=\{)")
_TAG = re.compile(r"</?(?:p|div|br|h[1-6]|li|ul|ol|a|em|strong|blockquote)\b[^<>]*>", re.IGNORECASE)
_WORDS = 12  # of a text in a state
_LEAST = 100  # characters of a text in a state; shorter ones are labels of the page
_LARGEST = 4_000_000  # characters of data that are read
_DEPTH = 60


def embedded_text(tree: html.HtmlElement) -> str:
    """Return the text of a page's data, as HTML or with line breaks; empty if it has none. Call it before the page's
    scripts are removed."""
    articles: list[str] = []
    state: list[str] = []
    for script in tree.iter("script"):
        text = script.text or ""
        if not text or len(text) > _LARGEST:
            continue
        if "ld+json" in (script.get("type") or ""):
            articles += _articles(_read(text), 0)
        elif _STATE.search(script.get("id") or "") or _STATE.search(text[:200]):
            state += _texts(_read(_ASSIGNED.sub("", text)), 0)
    found = list(dict.fromkeys(articles)) or list(dict.fromkeys(state))
    return "\n\n".join(found)


def embedded_tree(text: str) -> html.HtmlElement | None:
    """Return an embedded text as the body of a page; None where it is empty."""
    if not text.strip():
        return None
    if not _TAG.search(text):
        body = etree.Element("body")
        for line in re.split(r"\n+", text):
            etree.SubElement(body, "p").text = line.strip()
        return body
    try:
        return parse_part(f"<body>{text}</body>")
    except etree.ParserError:
        return None


def _read(text: str) -> Any:
    try:
        return json.JSONDecoder(strict=False).raw_decode(text.strip())[0]
    except (ValueError, RecursionError):
        return None


def _articles(data: Any, depth: int) -> Iterator[str]:
    """Yield the bodies of articles and posts in JSON-LD, in their order."""
    if depth > _DEPTH:
        return
    if isinstance(data, dict):
        for name in _BODIES:
            body = data.get(name)
            if isinstance(body, str) and len(body) >= _LEAST:
                yield body
        for key, value in data.items():
            if key not in _BODIES:
                yield from _articles(value, depth + 1)
    elif isinstance(data, list):
        for value in data:
            yield from _articles(value, depth + 1)


def _texts(data: Any, depth: int) -> Iterator[str]:
    """Yield the strings of a state that are prose."""
    if depth > _DEPTH:
        return
    if isinstance(data, str):
        if len(data) >= _LEAST and _is_prose(data) and not data.startswith(("http", "{", "[")):
            yield data
    elif isinstance(data, dict | list):
        for value in data.values() if isinstance(data, dict) else data:
            yield from _texts(value, depth + 1)


def _is_prose(text: str) -> bool:
    return len(text.split()) >= _WORDS and any(sign in text for sign in ".!?…。")
