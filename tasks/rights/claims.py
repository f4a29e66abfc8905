"""The licence that a page claims for itself, and where on the page the claim stands.

A page also names licences of what it shows: of pictures, above all. So a licence counts only where markup says that it
is the page's (`rel=license`, schema.org, RDFa, a `<meta>`), or where a sentence says so of the page's own text. Claims
that contradict each other are no claim. A page without a claim may still have a licence: nothing says that it has none.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lxml import etree, html

from tasks.rights.licences import agreed, licence_of, licence_of_url, may_name_licence, named_licences

# What a page of text may be in schema.org; the licence of a picture or of a data set is not the page's.
_TEXT_TYPES = frozenset(
    {"Article", "NewsArticle", "BlogPosting", "ScholarlyArticle", "MedicalScholarlyArticle", "TechArticle",
     "Report", "WebPage", "ItemPage", "AboutPage", "CreativeWork", "Book", "Chapter", "Thesis", "WebSite", "Blog"}
)  # fmt: skip
_META_NAMES = frozenset(
    {"license", "licence", "dc.rights", "dc.rights.license", "dcterms.rights", "dcterms.license", "dc.license",
     "rights", "copyright"}
)  # fmt: skip
_RDFA_NAMES = frozenset(
    {"license", "dct:license", "dcterms:license", "dc:license", "cc:license", "schema:license", "xhv:license",
     "http://creativecommons.org/ns#license", "http://schema.org/license", "https://schema.org/license"}
)  # fmt: skip
_BLOCKS = frozenset(
    {"p", "li", "div", "td", "th", "dd", "dt", "footer", "section", "article", "aside", "blockquote", "body", "pre",
     "figure", "figcaption", "main", "header", "center"}
)  # fmt: skip
_CAPTION = re.compile(r"caption|credit|figure|thumb|gallery|photo|image|media|attribution", re.IGNORECASE)
_FOOT = re.compile(r"foot|copyright|licen[cs]e|colophon|legal", re.IGNORECASE)
_LOWER = "translate(@{name}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"

_OWN = re.compile(
    r"\b(?:works?|articles?|pages?|(?:web)?sites?|contents?|text|posts?|story|stories|papers?|books?|publications?"
    r"|chapters?|reports?|documents?|entry|blog|journal|essays?|wiki|manuscript|preprint)\b",
    re.IGNORECASE,
)
_GRANT = re.compile(
    r"\blicen[cs]ed?\b|\b(?:available|(?:re)?published|distributed|released|shared|provided)\s+(?:under|with)\b"
    r"|\b(?:under|terms\s+of)\b",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:photo(?:graph)?s?|images?|pictures?|logos?|icons?|graphics?|illustrations?|maps?|videos?|music|fonts?"
    r"|figures?|screenshots?|comments?|code|software|meta-?data|data|datasets?|credits?|thumbnails?|audio)\b",
    re.IGNORECASE,
)
_PROVISO = re.compile(
    r"\b(?:unless|except)\b[^,.;]{0,80}\b(?:noted|stated|indicated|specified|marked)\b,?", re.IGNORECASE
)
_DENIAL = re.compile(r"\b(?:not|no|never|absence|without|other\s+than|instead\s+of)\b", re.IGNORECASE)
_LABEL = re.compile(r"(?:^|[.|•:;]\s*)(?:text\s+)?licen[cs]e\W{0,4}$", re.IGNORECASE)

_BEFORE = 220  # characters of a sentence before the licence's name
_MOST_PLACES = 50  # looked at on one page; a page that names more licences lists them
_JSON_BYTES = 500_000


@dataclass(frozen=True)
class Claim:
    """A licence and where it stands.

    Attributes:
        licence: SPDX identifier, or as `tasks.rights.licences` writes it; None if claims contradict each other.
        source: rel-license | json-ld | rdfa | meta | statement | link-header | domain | source | ambiguous; None if
            there is no claim.
    """

    licence: str | None
    source: str | None


def page_claim(source: str, tree: html.HtmlElement) -> Claim | None:
    """Return the licence that a page claims for its own text; None if nothing on it says so.

    Args:
        source: the page's HTML.
        tree: its tree, before an engine has changed it.
    """
    if not may_name_licence(source):
        return None
    claims = [*_links(tree), *_json_ld(tree), *_rdfa(tree), *_metas(tree), *_statements(tree)]
    return settle(claims)


def settle(claims: Sequence[Claim]) -> Claim | None:
    """Return the licence that all claims agree on, with the first one's source; `ambiguous` if they differ."""
    if not claims:
        return None
    licence = agreed({claim.licence for claim in claims if claim.licence is not None})
    return Claim(licence, claims[0].source) if licence is not None else Claim(None, "ambiguous")


def _links(tree: html.HtmlElement) -> Iterator[Claim]:
    """Links with the relation `license` (HTML, 4.6.7.9), except those in captions of pictures."""
    for link in tree.xpath("//*[self::a or self::link or self::area][@rel][@href]"):
        if "license" in link.get("rel").lower().split() and not _in_caption(link):
            licence = licence_of_url(link.get("href"))
            if licence is not None and not _is_of_other(_block_text(link)):
                yield Claim(licence, "rel-license")


def _json_ld(tree: html.HtmlElement) -> Iterator[Claim]:
    for script in tree.xpath("//script[@type='application/ld+json']"):
        text = script.text or ""
        if "license" not in text or len(text) > _JSON_BYTES:
            continue
        try:
            parsed = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            continue
        for thing in _things(parsed):
            for licence in _licences_of(thing):
                yield Claim(licence, "json-ld")


def _things(parsed: Any) -> Iterator[dict[str, Any]]:
    """Yield the texts that JSON-LD describes: at its top, in its `@graph`, or as the page's main entity."""
    for thing in parsed if isinstance(parsed, list) else [parsed]:
        if isinstance(thing, dict):
            types = thing.get("@type")
            if _TEXT_TYPES.intersection(name for name in _list(types) if isinstance(name, str)):
                yield thing
            graph = thing.get("@graph")
            yield from _things([*_list(graph), *_list(thing.get("mainEntity"))])


def _licences_of(thing: dict[str, Any]) -> Iterator[str]:
    for value in _list(thing.get("license")):
        text = value.get("@id") or value.get("url") or value.get("name") if isinstance(value, dict) else value
        if isinstance(text, str) and (licence := licence_of(text)) is not None:
            yield licence


def _rdfa(tree: html.HtmlElement) -> Iterator[Claim]:
    for element in tree.xpath("//*[@property or @itemprop]"):
        names = f"{element.get('property') or ''} {element.get('itemprop') or ''}".lower().split()
        if not _RDFA_NAMES.intersection(names) or _in_caption(element):
            continue
        value = next((element.get(name) for name in ("href", "content", "resource", "src") if element.get(name)), "")
        if (licence := licence_of(value)) is not None:
            yield Claim(licence, "rdfa")


def _metas(tree: html.HtmlElement) -> Iterator[Claim]:
    for meta in tree.xpath("//meta[@name][@content]"):
        if meta.get("name").lower() in _META_NAMES and (licence := licence_of(meta.get("content"))) is not None:
            yield Claim(licence, "meta")


def _statements(tree: html.HtmlElement) -> Iterator[Claim]:
    """Sentences which say that the page's text is under a licence, by its name or by a link to it."""
    signs = " or ".join(f"contains(., '{sign}')" for sign in ("CC", "reative", "overnment"))
    texts = tree.xpath(f"//body//text()[{signs}][not(parent::script or parent::style)]")
    blocks = {id(block): block for text in texts[:_MOST_PLACES] if (block := _block(text.getparent())) is not None}
    for block in blocks.values():
        text = " ".join(block.text_content().split())
        names = named_licences(text)
        if not _in_caption(block):
            yield from (
                Claim(name, "statement")
                for start, _, name in names
                if _speaks_of_page(text[max(0, start - _BEFORE) : start])
            )
    for link in tree.xpath(f"//body//a[contains({_LOWER.format(name='href')}, 'licen')]")[:_MOST_PLACES]:
        licence = licence_of_url(link.get("href"))
        if licence is None or _in_caption(link) or "license" in (link.get("rel") or ""):
            continue
        before = _text_before(link)
        if _speaks_of_page(before) or (_in_foot(link) and not _is_of_other(before)):
            yield Claim(licence, "statement")


def _speaks_of_page(before: str) -> bool:
    """Tell whether the words before a licence's name say that it is the licence of the page's text."""
    if _LABEL.search(before):
        return True
    sentence = _PROVISO.sub(" ", re.split(r"[.!?]\s+(?=[A-Z])", before)[-1])
    own = _OWN.search(sentence)
    if own is None or _DENIAL.search(sentence) or not _GRANT.search(sentence, own.start()):
        return False
    other = _OTHER.search(sentence)
    return other is None or other.start() > own.start()


def _is_of_other(text: str) -> bool:
    """Tell whether words speak of pictures and the like, and not of a text."""
    other = _OTHER.search(text)
    own = _OWN.search(text)
    return other is not None and (own is None or other.start() < own.start())


def _block(element: html.HtmlElement | None) -> html.HtmlElement | None:
    while element is not None and element.tag not in _BLOCKS:
        element = element.getparent()
    return element


def _block_text(element: html.HtmlElement) -> str:
    block = _block(element)
    return "" if block is None or block.tag == "body" else " ".join(block.text_content().split())[:500]


def _text_before(link: html.HtmlElement) -> str:
    """Return the text of a link's block up to and including the link."""
    block = _block(link)
    if block is None:
        return ""
    pieces: list[str] = []
    for event, element in _walk(block):
        if event == "start":
            pieces.append(element.text or "")
            if element is link:
                break
        elif element is not block:
            pieces.append(element.tail or "")
    return " ".join("".join(pieces).split())[-_BEFORE:]


def _walk(block: html.HtmlElement) -> Iterator[tuple[str, html.HtmlElement]]:
    return iter(etree.iterwalk(block, events=("start", "end")))


def _in_caption(element: html.HtmlElement) -> bool:
    """Tell whether an element stands in a figure, or in something that its class calls a caption or a credit."""
    for outer in (element, *element.iterancestors()):
        if outer.tag in ("body", "main", "article", "html"):
            return False
        if outer.tag in ("figure", "figcaption") or _CAPTION.search(f"{outer.get('class', '')} {outer.get('id', '')}"):
            return True
    return False


def _in_foot(element: html.HtmlElement) -> bool:
    """Tell whether an element stands in the page's footer, or in what its class calls a copyright notice."""
    return any(
        outer.tag == "footer" or _FOOT.search(f"{outer.get('class', '')} {outer.get('id', '')}")
        for outer in (element, *element.iterancestors())
        if outer.tag not in ("body", "html")
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
