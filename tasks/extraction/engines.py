"""The engines, the order in which they are tried, how far their texts agree, and lines that none should have kept."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

import trafilatura
from bs4 import BeautifulSoup
from lxml import html
from trafilatura.external import try_readability

from tasks.extraction import markdown, pdf
from tasks.extraction.charset import decode
from tasks.extraction.density import extract_density, page_blocks
from tasks.extraction.markup import clean, join_wrapped, page_title, parse, plain_paragraphs
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.settings import ExtractSettings
from tasks.rights.claims import Claim, page_claim
from tasks.rights.reservations import page_reservations
from tasks.text.boilerplate_phrases import is_boilerplate
from tasks.text.ngrams import split_words

_SHINGLE = 4  # words; shorter runs occur in any two texts on one subject
_COMPARED = 20_000  # words of a text that are compared: more than articles have, and few enough for memory
_RECALL_WEIGHT = 0.5  # relative to precision: the surplus of a longer text is more often menus than article


def agreement(texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return for each text how far the others agree with it (0-1), in the same order. The agreement is the mean of its
    F-measures against the others (van Rijsbergen 1979, beta squared = 1/2), counted on runs of four words, repetitions
    included. A text of fewer than four words has agreement 0. Raises ValueError: fewer than two texts."""
    if len(texts) < 2:
        raise ValueError(f"agreement needs at least two texts, got {list(texts)}")
    shingles = {name: _shingles(lines) for name, lines in texts.items()}
    return {
        name: sum(_f_measure(shingles[name], shingles[other]) for other in texts if other != name) / (len(texts) - 1)
        for name in texts
    }


def _shingles(lines: Sequence[str]) -> Counter[tuple[str, ...]]:
    words = [word for line in lines for word in split_words(line, "unicode")][:_COMPARED]
    return Counter(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))


def _f_measure(text: Counter[tuple[str, ...]], other: Counter[tuple[str, ...]]) -> float:
    shared = sum((text & other).values())
    return (1 + _RECALL_WEIGHT) * shared / (text.total() + _RECALL_WEIGHT * other.total()) if shared else 0.0


_SOUP_NEVER = ["script", "style", "noscript", "template", "nav", "footer", "svg", "select", "button", "head"]
_SOUP_BLOCKS = ["p", "div", "li", "br", "tr", "td", "blockquote", "pre", "section", "article", "dd", "dt"] + [
    f"h{level}" for level in range(1, 7)
]
_WORD = re.compile(r"\w+")
_PHRASE_LENGTH = 300  # a line with a boilerplate phrase is removed up to this length in characters


@dataclass(frozen=True)
class Extracted:
    """The text extracted from a page."""

    title: str | None  # title of the page, or None
    paragraphs: tuple[str, ...]  # lines of the main text; empty where `reason` is set
    # engine that found them: trafilatura | density | readability | soup | plain | markdown | pdf, or None
    engine: str | None
    reason: str | None = None  # why there are none, or None
    licence: str | None = None  # licence that the page's HTML claims, or None
    licence_source: str | None = None  # where it does (`tasks.rights.claims.Claim`), or None
    reservations: tuple[str, ...] = ()  # signs in its HTML that rights are reserved (`tasks.rights.reservations`)


def extract(body: bytes, mime: str | None, charset: str | None, settings: ExtractSettings) -> Extracted:
    """Find the main text of a page, without limits: plain text, Markdown, PDF, everything else as HTML."""
    if mime == pdf.MIME:
        title, lines, reason = pdf.read_pdf(body)
        return Extracted(title, tuple(lines), None if reason else "pdf", reason)
    text = decode(body, charset)
    if mime == markdown.MIME:
        title, lines = markdown.read_markdown(clean(text))
        return (
            Extracted(title, tuple(lines), "markdown") if lines else Extracted(title, (), None, DocumentReason.NO_TEXT)
        )
    if mime == "text/plain":
        lines = join_wrapped(plain_paragraphs(clean(text)))
        return Extracted(None, tuple(lines), "plain") if lines else Extracted(None, (), None, DocumentReason.NO_TEXT)
    tree = parse(text)
    if tree is None:
        return Extracted(None, (), None, DocumentReason.NO_TEXT)
    title = page_title(tree)
    claim = page_claim(text, tree) or Claim(None, None)  # before the engines, which change the tree
    rights = (claim.licence, claim.source, tuple(page_reservations(text, tree)))
    engine, lines = choose(
        {name: tidy(lines, title) for name, lines in _texts(tree, settings).items()}, settings.rescue_below
    )
    if not lines:
        engine, lines = "soup", tidy(_extract_soup(text), title)
    if not lines:
        return Extracted(title, (), None, DocumentReason.NO_TEXT, *rights)
    return Extracted(title, tuple(join_wrapped(lines)), engine, None, *rights)


def choose(texts: Mapping[str, list[str]], rescue_below: float) -> tuple[str, list[str]]:
    """Return the name of the chosen engine, and its lines; `texts` are in order of preference. The first engine that
    found anything is chosen, unless the texts of the others agree with each other but not with it: below `rescue_below`
    of the best agreement it is rejected (0 = never). One engine alone never overrules another: a longer text is not a
    better one."""
    first = next((name for name, lines in texts.items() if lines), next(iter(texts)))
    differ = any(lines != texts[first] for lines in texts.values())  # on plain pages they do not
    if rescue_below and len(texts) > 2 and differ:
        agreements = agreement(texts)
        best = max(texts, key=agreements.__getitem__)
        if agreements[first] < rescue_below * agreements[best]:
            return best, texts[best]
    return first, texts[first]


def _texts(tree: html.HtmlElement, settings: ExtractSettings) -> dict[str, list[str]]:
    """Return the lines that each engine finds, in order of preference."""
    fast = extract_density(tree)
    if settings.engine == "density":
        return {"density": fast}
    arbiter = {"readability": extract_readability(tree)} if settings.rescue_below else {}
    return {"trafilatura": extract_trafilatura(tree, settings), "density": fast, **arbiter}


def extract_trafilatura(tree: html.HtmlElement, settings: ExtractSettings) -> list[str]:
    """Return the lines of trafilatura's text, without comments."""
    text: str | None = trafilatura.extract(
        tree,
        include_comments=False,
        include_tables=settings.tables,
        favor_precision=settings.favour == "precision",
        favor_recall=settings.favour == "recall",
    )
    return clean(text or "").split("\n")


def extract_readability(tree: html.HtmlElement) -> list[str]:
    """Return the lines of the element that readability scores highest; none where it finds no such element."""
    main = try_readability(deepcopy(tree))  # a copy, because it modifies the tree
    return [line for block in page_blocks(main) for line in block.text.split("\n")]


def _extract_soup(text: str) -> list[str]:
    """Return every line of a page that BeautifulSoup sees outside navigation: the last resort."""
    soup = BeautifulSoup(clean(text), "html.parser")
    for element in soup(_SOUP_NEVER):
        element.decompose()
    for element in soup(_SOUP_BLOCKS):
        element.append("\n")
    return soup.get_text("").split("\n")


def tidy(lines: Sequence[str], title: str | None) -> list[str]:
    """Return the lines without empty ones, rules, boilerplate phrases and the title, also with the site's name."""
    name = _words(title or "")
    kept = []
    for line in lines:
        line = " ".join(line.split())
        words = _words(line)
        if not words or _is_title(words, name) or (len(line) <= _PHRASE_LENGTH and is_boilerplate(line)):
            continue
        kept.append(line)
    return kept


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _is_title(words: str, title: str) -> bool:
    """Tell whether a line is the title, or the title without the site's name at its end."""
    return bool(title) and (words == title or (title.startswith(words + " ") and len(words) > len(title) / 2))
