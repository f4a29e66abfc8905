"""The licence that a page claims for itself, and where on the page the claim is.

A page also names licences of what it shows, mostly of pictures. So a licence counts only if markup says that it is the
page's (`rel=license`, schema.org, RDFa, a `<meta>`), or if a sentence says so of the page's own text. Claims that
contradict each other do not count. A page without a claim may still have a licence: nothing says that it has none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml import html

from tasks.engine.data_files import fill, read_data
from tasks.rights.described import (
    block_of,
    describes_page,
    in_caption,
    in_foot,
    json_ld_licences,
    marked_licences,
    text_before,
    text_of,
    without_catalogues,
)
from tasks.rights.licences import agreed, licence_of, licence_of_url, may_name_licence, named_licences
from tasks.text.tokens import tokens

_META_NAMES = frozenset(read_data("tasks.rights", "markup.toml")["licence_metas"])
_NEVER = frozenset({"script", "style", "pre", "code", "textarea"})  # text in them is shown to be copied
_AROUND = 600  # characters of a block before and after a licence's name
_MOST_PLACES = 50  # looked at on one page; a page that names more licences lists them


@dataclass(frozen=True)
class Claim:
    """A licence and where the page names it."""

    # SPDX identifier, or as `tasks.rights.licences` writes it; None if claims contradict each other
    licence: str | None
    # rel-license | json-ld | rdfa | meta | statement | link-header | domain | source | ambiguous; None without a
    # claim
    source: str | None


def page_claim(source: str, tree: html.HtmlElement) -> Claim | None:
    """Return the licence that a page claims for its own text, or None; no engine may have changed the tree."""
    if not may_name_licence(source):
        return None
    result = {
        "rel-license": _linked(tree),
        "json-ld": json_ld_licences(tree),
        "rdfa": marked_licences(tree),
        "meta": _in_metas(tree),
        "statement": _stated(tree),
    }
    return settle([Claim(licence, place) for place, licences in result.items() for licence in licences])


def settle(claims: Sequence[Claim]) -> Claim | None:
    """Return the licence that all claims agree on, with the first one's source; `ambiguous` if they differ."""
    if not claims:
        return None
    licence = agreed({claim.licence for claim in claims if claim.licence is not None})
    return Claim(licence, claims[0].source) if licence is not None else Claim(None, "ambiguous")


def _linked(tree: html.HtmlElement) -> Iterator[str]:
    """Yield the licences of links with the relation `license` (HTML, 4.6.7.9) that are the page's."""
    links = tree.xpath("//*[self::a or self::link or self::area][@rel][@href]")
    for link in without_catalogues(link for link in links if _has_relation(link)):
        licence = licence_of_url(link.get("href"))
        if licence is not None and describes_page(link) and not in_caption(link) and not _is_of_other(link):
            yield licence


def _has_relation(link: html.HtmlElement) -> bool:
    return "license" in (word.lower() for word in tokens(link, "rel"))


def _is_of_other(link: html.HtmlElement) -> bool:
    """Tell whether the sentence of a link speaks of pictures and the like."""
    block = block_of(link)
    if block is None or block.tag == "body":
        return False
    before = text_before(link, block)
    after = text_of(block)[len(before) :][:_AROUND]
    return speaks_of_other(_PROVISO.sub(" ", _last_sentence(before[-_AROUND:]) + _first_sentence(after)))


def _in_metas(tree: html.HtmlElement) -> Iterator[str]:
    for meta in tree.xpath("//meta[@name][@content]"):
        content = meta.get("content")
        named = meta.get("name").strip().lower() in _META_NAMES and not speaks_of_other(content)
        if named and (licence := licence_of(content)) is not None:
            yield licence


def _stated(tree: html.HtmlElement) -> Iterator[str]:
    """Yield the licences of sentences which say that the page's text is under them, by a name or by a link."""
    signs = " or ".join(f"contains(., '{sign}')" for sign in ("CC", "cc by", "cc-by", "reative", "overnment"))
    texts = tree.xpath(f"//body//text()[{signs}]")
    links = [
        link
        for link in tree.xpath("//body//a[contains(@href, 'icen')]")
        if licence_of_url(link.get("href")) is not None and not _has_relation(link)
    ][:_MOST_PLACES]
    holders = [*(text.getparent() for text in texts[:_MOST_PLACES]), *links]
    blocks = {id(block): block for holder in without_catalogues(holders) if (block := _prose_block(holder)) is not None}
    places = (place for block in blocks.values() for place in _places(block, links))
    for block, before, after, name in islice(places, _MOST_PLACES):
        if speaks_of_page(before or _label(block), after, in_foot=in_foot(block)):
            yield name


def _places(
    block: html.HtmlElement, links: Sequence[html.HtmlElement]
) -> Iterator[tuple[html.HtmlElement, str, str, str]]:
    """Yield a block, the text before and after each licence in it, and the licence: those linked, then those named."""
    text = text_of(block)
    results = []
    for link in links:
        licence = licence_of_url(link.get("href"))
        if licence is not None and block_of(link) is block:
            start = len(text_before(link, block))
            results.append((start, start + len(text_of(link)), licence))
    for start, end, name in [*results, *named_licences(text)]:
        yield block, text[max(0, start - _AROUND) : start], text[end : end + _AROUND], name


def _prose_block(holder: html.HtmlElement) -> html.HtmlElement | None:
    """Return the block of an element, unless it is a caption, code, or text to be copied."""
    if any(outer.tag in _NEVER for outer in (holder, *holder.iterancestors())):
        return None
    block = block_of(holder)
    return None if block is None or in_caption(block) else block


def _label(block: html.HtmlElement) -> str:
    """Return the text before a cell of a table or a list of definitions."""
    label = block.getprevious() if block.tag in ("td", "dd") else None
    return "" if label is None else text_of(label)


# What a sentence with a licence in it says: that the page's own text is under it, or something else. The words of ten
# languages are in `wording.toml`. A sentence counts if it points at the page ("this article", "our texts"), or has no
# subject at all ("Distributed under ..."); a noun alone, such as "the book", may be any book.
_WORDS = read_data("tasks.rights", "wording.toml")


def _any(kind: str) -> str:
    return "|".join(word for words in _WORDS[kind].values() for word in words)


def _pointed_at() -> str:
    pages = _WORDS["page"]
    return "|".join(
        rf"\b(?:{'|'.join(words)})\s*(?:[\w-]+\s+){{0,3}}?(?:{'|'.join(pages[language])})"
        for language, words in _WORDS["pointing"].items()
    )


_OWN = re.compile(rf"(?:{_pointed_at()}|^\W*(?:{_any('opening')}))\b", re.IGNORECASE)
_GRANT = re.compile(rf"\b(?:{_any('grant')})\b", re.IGNORECASE)
_OTHER = re.compile(rf"\b(?:{_any('other')})\b", re.IGNORECASE)
_PROVISO = re.compile(rf"(?:\b|(?=,))(?:{_any('proviso')})", re.IGNORECASE)
_UNLIKE = re.compile(rf"\b(?:{_any('unlike')})\b", re.IGNORECASE)
_LABEL, _NO_SUBJECT, _NOTICE, _LICENCE, _CAPTION = (
    re.compile(fill(pattern, {}), re.IGNORECASE) for pattern in _WORDS["patterns"].values()
)
_SENTENCE = re.compile(r"[.!?]\s+(?=[^\W\d_a-zß-ÿ]|[“\"(]|$)|;\s+|\s\|\s")


def speaks_of_page(before: str, after: str = "", *, in_foot: bool = False) -> bool:
    """Tell whether words around a licence's name say that it is the page's; `in_foot`: a notice needs no verb."""
    if _LABEL.search(before):
        return True
    sentence = _PROVISO.sub(" ", _last_sentence(before)).strip()
    is_quoted = sentence.count("“") > sentence.count("”") or sentence.count('"') % 2 == 1
    if is_quoted or _CAPTION.match(before) or _UNLIKE.search(sentence):
        return False
    other = _OTHER.search(sentence)
    own = _OWN.search(sentence)
    if own is not None:
        return _GRANT.search(sentence) is not None and (other is None or own.start() < other.start())
    earlier = before[: len(before) - len(_last_sentence(before))]
    if other is not None or speaks_of_other(_first_sentence(after)):
        return False
    if _NO_SUBJECT.match(sentence) and (in_foot or not earlier.strip() or _NOTICE.search(earlier.rstrip(" .;|"))):
        return True
    if in_foot:
        return not sentence or _GRANT.search(sentence) is not None or _NOTICE.match(sentence) is not None
    return not sentence and _LICENCE.match(after) is not None


def speaks_of_other(text: str) -> bool:
    """Tell whether words speak of pictures and the like, and not of the page before them."""
    other = _OTHER.search(text)
    own = _OWN.search(text)
    return other is not None and (own is None or other.start() < own.start())


def _last_sentence(text: str) -> str:
    return _SENTENCE.split(text)[-1]


def _first_sentence(text: str) -> str:
    return _SENTENCE.split(text, maxsplit=1)[0]
