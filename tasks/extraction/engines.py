"""The engines, the order in which they are tried, and the lines that no engine should have left in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import trafilatura
from bs4 import BeautifulSoup
from lxml import html

from tasks.extraction.charset import decode
from tasks.extraction.density import extract_density
from tasks.extraction.markup import clean, join_wrapped, page_title, parse, plain_paragraphs
from tasks.extraction.settings import ExtractSettings

_SOUP_NEVER = ["script", "style", "noscript", "template", "nav", "footer", "svg", "select", "button", "head"]
_SOUP_BLOCKS = ["p", "div", "li", "br", "tr", "td", "blockquote", "pre", "section", "article", "dd", "dt"] + [
    f"h{level}" for level in range(1, 7)
]
_WORD = re.compile(r"\w+")
# Lines that point away from the article; a full stop after the first word of such a line would make it prose.
_POINTER = re.compile(
    r"""^\W*(?:
      (?:read|see|related|recommended|more|also\ read|read\ also|read\ more|see\ also|read\ next|up\ next|learn\ more
        |more\ on\ this|don.t\ miss|watch)\s*:
    | (?:read\ more|related\ (?:articles?|stor(?:y|ies)|posts?|topics?|coverage)|advert(?:isement)?|share\ this
        |most\ read|trending(?:\ now)?|continue\ reading|(?:story|article)\ continues\ below.*
        |don.t\ miss|recommended|loading)\W*$
    | this\ slideshow\ requires\ javascript
    | (?:sign\ up|subscribe)\b.{0,80}\b(?:newsletters?|inbox|updates|alerts)\b
    | get\ .{0,80}\b(?:delivered|straight|sent|right)\b.{0,20}\b(?:to|in|through)\b.{0,20}\b(?:inbox|letterbox|email)\b
    | follow\ (?:us|me|him|her|them)\ on\ (?:twitter|facebook|instagram|x|threads|bluesky)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_POINTER_LENGTH = 300  # characters; whatever is longer is prose that begins like a pointer


@dataclass(frozen=True)
class Extracted:
    """What was found in a page.

    Attributes:
        title: title of the page, or None.
        paragraphs: lines of the main text; empty where `reason` is set.
        engine: engine that found them: trafilatura | density | soup | plain, or None.
        reason: why there are none, or None.
    """

    title: str | None
    paragraphs: tuple[str, ...]
    engine: str | None
    reason: str | None = None


def extract(body: bytes, mime: str | None, charset: str | None, settings: ExtractSettings) -> Extracted:
    """Find the main text of a page; nothing here bounds time or memory.

    Args:
        body: the page.
        mime: its media type; `text/plain` is read line by line, everything else as HTML.
        charset: declared character set, or None.
        settings: engine and its preferences.
    """
    text = decode(body, charset)
    if mime == "text/plain":
        lines = plain_paragraphs(clean(text))
        return Extracted(None, tuple(lines), "plain") if lines else Extracted(None, (), None, "no_text")
    tree = parse(text)
    if tree is None:
        return Extracted(None, (), None, "no_text")
    title = page_title(tree)
    engine, lines = _main_text(tree, settings)
    lines = tidy(lines, title)
    if not lines:
        engine, lines = "soup", tidy(_extract_soup(text), title)
    if not lines:
        return Extracted(title, (), None, "no_text")
    return Extracted(title, tuple(join_wrapped(lines)), engine)


def _main_text(tree: html.HtmlElement, settings: ExtractSettings) -> tuple[str, list[str]]:
    """Return the name of the engine that was believed, and its lines."""
    fast = extract_density(tree)
    if settings.engine == "density":
        return "density", fast
    lines = _extract_trafilatura(tree, settings)
    if sum(map(len, lines)) < settings.rescue_below * sum(map(len, fast)) or not lines:
        return "density", fast
    return "trafilatura", lines


def _extract_trafilatura(tree: html.HtmlElement, settings: ExtractSettings) -> list[str]:
    """Return the lines of trafilatura's text, comments left out."""
    text: str | None = trafilatura.extract(
        tree,
        include_comments=False,
        include_tables=settings.tables,
        favor_precision=settings.favour == "precision",
        favor_recall=settings.favour == "recall",
    )
    return clean(text or "").split("\n")


def _extract_soup(text: str) -> list[str]:
    """Return every line of a page that BeautifulSoup sees outside navigation: the last resort."""
    soup = BeautifulSoup(clean(text), "html.parser")
    for element in soup(_SOUP_NEVER):
        element.decompose()
    for element in soup(_SOUP_BLOCKS):
        element.append("\n")
    return soup.get_text("").split("\n")


def tidy(lines: Sequence[str], title: str | None) -> list[str]:
    """Return the lines without empty ones, rules, the page's title and pointers to other pages.

    Args:
        lines: lines of main text.
        title: title of the page; a line that says the same, with or without the site's name, is left out.
    """
    name = _words(title or "")
    kept = []
    for line in lines:
        line = " ".join(line.split())
        words = _words(line)
        if not words or _is_title(words, name) or (len(line) < _POINTER_LENGTH and _POINTER.search(line)):
            continue
        kept.append(line)
    return kept


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _is_title(words: str, title: str) -> bool:
    """Tell whether a line is the title, or the title less the site's name at its end."""
    return bool(title) and (words == title or (title.startswith(words + " ") and len(words) > len(title) / 2))
