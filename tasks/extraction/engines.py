"""The engines, the order in which they are tried, how far their texts agree, and lines that none should have kept."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import combinations

import trafilatura
from bs4 import BeautifulSoup
from lxml import html
from trafilatura.external import try_readability

from tasks.extraction import pdf
from tasks.extraction.density import extract_density, page_blocks
from tasks.extraction.markup import (
    MARKDOWN,
    clean,
    decode,
    join_wrapped,
    page_title,
    parse,
    plain_paragraphs,
    prune,
    read_markdown,
)
from tasks.extraction.reasons import DocumentReason
from tasks.extraction.reference_marks import without_reference_marks
from tasks.extraction.settings import ExtractSettings
from tasks.rights.claims import Claim, page_claim
from tasks.rights.reservations import page_reservations
from tasks.text.boilerplate_phrases import is_boilerplate
from tasks.text.ngrams import ngrams, split_words

_SHINGLE = 4  # words; shorter runs occur in any two texts on one subject
_COMPARED = 20_000  # words of a text that are compared: more than articles have, and few enough for memory
_SURE = 0.96  # agreement of density and readability from which no other engine is asked
_RECALL_WEIGHT = 0.5  # relative to precision: the surplus of a longer text is more often menus than article


def agreement(texts: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return for each text how far the others agree with it (0-1), in the same order. The agreement is the mean of its
    F-measures against the others (van Rijsbergen 1979, beta squared = 1/2), counted on runs of four words, repetitions
    included. A text of fewer than four words has agreement 0. Raises ValueError: fewer than two texts."""
    if len(texts) < 2:
        raise ValueError(f"agreement needs at least two texts, got {list(texts)}")
    agreements = dict.fromkeys(texts, 0.0)
    for pair in combinations(texts, 2):
        shared, *sizes = _shared(*(tuple(texts[name]) for name in pair))
        for name, size, other in zip(pair, sizes, reversed(sizes), strict=True):
            f_measure = (1 + _RECALL_WEIGHT) * shared / (size + _RECALL_WEIGHT * other) if shared else 0.0
            agreements[name] += f_measure / (len(texts) - 1)
    return agreements


@lru_cache(maxsize=8)
def _compared(lines: tuple[str, ...]) -> list[str]:
    return [word for line in lines for word in split_words(line, "unicode")][:_COMPARED]


@lru_cache(maxsize=8)  # a page's texts are compared two or three times
def _shared(lines: tuple[str, ...], other_lines: tuple[str, ...]) -> tuple[int, int, int]:
    """Return how many runs two texts share, repetitions included, and how many each has; those within their common
    beginning and end are counted without being looked up."""
    text, other = _compared(lines), _compared(other_lines)
    most, outside = min(len(text), len(other)), _SHINGLE - 1
    start = next((n for n, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), most)
    ends = enumerate(zip(reversed(text), reversed(other), strict=False))
    end = min(next((n for n, (a, b) in ends if a != b), most), most - start)
    start, end = max(start - outside, 0), max(end - outside, 0)
    runs, others = (Counter(ngrams(words[start : len(words) - end], _SHINGLE)) for words in (text, other))
    again = sum(min(count, others[run]) - 1 for run, count in runs.items() if count > 1 and others[run] > 1)
    shared = start + end + len(runs.keys() & others.keys()) + again
    return shared, max(len(text) - outside, 0), max(len(other) - outside, 0)


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
    """Find the main text of a page, without limits and without marks of notes: plain text, Markdown, PDF, everything
    else as HTML."""
    found = _extract(body, mime, charset, settings)
    return replace(found, paragraphs=tuple(without_reference_marks(found.paragraphs))) if found.paragraphs else found


def _extract(body: bytes, mime: str | None, charset: str | None, settings: ExtractSettings) -> Extracted:
    if mime == pdf.MIME:
        title, lines, reason = pdf.read_pdf(body)
        return Extracted(title, tuple(lines), None if reason else "pdf", reason)
    text = decode(body, charset)
    no_text = Extracted(None, (), None, DocumentReason.NO_TEXT)
    if mime == MARKDOWN:
        title, lines = read_markdown(clean(text))
        return Extracted(title, tuple(lines), "markdown") if lines else replace(no_text, title=title)
    if mime == "text/plain":
        lines = join_wrapped(plain_paragraphs(clean(text)))
        return Extracted(None, tuple(lines), "plain") if lines else no_text
    tree = parse(text)
    if tree is None:
        return no_text
    _held = list(tree.iter())  # because lxml makes an object of an element anew whenever none holds it
    title = page_title(tree)
    claim = page_claim(text, tree) or Claim(None, None)  # before the engines, which change the tree
    rights = (claim.licence, claim.source, tuple(page_reservations(tree)))
    engine, lines = main_text(tree, title, settings)
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


def main_text(tree: html.HtmlElement, title: str | None, settings: ExtractSettings) -> tuple[str, list[str]]:
    """Return the name of the engine that is believed, and its lines; the tree is pruned. The engines are asked in the
    order of their cost, and the dearer ones only in doubt: where density and readability agree, the shorter of their
    texts is taken; trafilatura's own rules come before the fallbacks that it compares itself with."""
    texts = {"density": tidy(extract_density(tree), title)}
    if settings.engine == "density":
        return "density", texts["density"]
    prune(tree)
    ask = partial(extract_trafilatura, tree, settings)
    if not settings.rescue_below:
        return choose({"trafilatura": tidy(ask(), title), **texts}, 0)
    texts["readability"] = tidy(extract_readability(tree), title)
    if settings.tables and min(agreement(texts).values()) >= _SURE:
        engine = min(texts, key=lambda name: sum(map(len, texts[name])))
        return engine, texts[engine]
    engine, lines = choose({"trafilatura": tidy(ask(fast=True), title), **texts}, settings.rescue_below)
    if engine != "trafilatura":
        engine, lines = choose({"trafilatura": tidy(ask(), title), **texts}, settings.rescue_below)
    return engine, lines


def extract_trafilatura(tree: html.HtmlElement, settings: ExtractSettings, fast: bool = False) -> list[str]:
    """Return the lines of trafilatura's text, without comments; a fast one is not compared with its fallbacks."""
    text: str | None = trafilatura.extract(
        tree,
        include_comments=False,
        include_tables=settings.tables,
        favor_precision=settings.favour == "precision",
        favor_recall=settings.favour == "recall",
        fast=fast,
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

    def is_title(words: str) -> bool:
        return bool(name) and (words == name or (name.startswith(words + " ") and len(words) > len(name) / 2))

    return [line for line, words in map(_tidied, lines) if words and not is_title(words)]


@lru_cache(maxsize=4096)  # the engines of a page find mostly the same lines
def _tidied(line: str) -> tuple[str, str]:
    """Return a line with single spaces, and its words, none of those of boilerplate."""
    line = " ".join(line.split())
    return line, "" if len(line) <= _PHRASE_LENGTH and is_boilerplate(line) else _words(line)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
