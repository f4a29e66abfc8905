"""A page as a sequence of blocks, the text between two block-level tags, with the elements that hold each of them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from lxml import etree, html

from tasks.extraction.markup import INLINE, names, plain_paragraphs
from tasks.text.raised import without_invisible

_MARKS = tomllib.loads(files("tasks.extraction").joinpath("marks.toml").read_text(encoding="utf-8"))
MARKS: tuple[str, ...] = tuple(dict.fromkeys(name for group in _MARKS.values() for name in group))
"""What the names, roles and tags of elements may say of the text below them."""


def _by_word(group: Mapping[str, str]) -> dict[str, int]:
    return {word: MARKS.index(name) for name, words in group.items() for word in words.split()}


_WORDS, _ROLES, _TAGS = (_by_word(_MARKS[group]) for group in ("words", "roles", "tags"))
_NEVER = names(
    "script style template svg iframe canvas object embed audio video map select textarea head noscript noembed "
    "noframes datalist progress meter"
)  # they never hold text that is shown as such
# Only 5 of 38,000 words in footers of WCXB's pages are content, and 4 % of 47,000 in navigation.
_AROUND = names("nav footer dialog")
_LITTLE = 200  # characters: a page with less outside of these elements is read with them, because it may not close them
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_BREAK = "\v"  # stands for <br>; no page has it, because parsing takes control characters out
_BREAKS = re.compile(r"\v\s*\v")
_LONGEST_NAME = 300  # characters of `class` and `id` that are read


@dataclass(slots=True)
class Element:
    """A block-level element: the blocks that it covers, and what it and its ancestors are marked with."""

    parent: int  # index of the element around it; -1 for the outermost one
    tag: str
    name: str  # tag and class, which the items of a list share
    depth: int
    marks: dict[int, int]  # by number of a mark: the depth of the nearest element that has it
    start: int  # its blocks are [start, end) of the page's
    outside: int  # the sign that it does not belong to the article: NOTHING, its CLASS or an element's TAG
    end: int = 0


@dataclass(slots=True)
class Block:
    """Text between two block-level tags."""

    text: str
    linked: int  # characters of it inside links
    strong: int  # characters of it in bold print
    element: int  # index of the element that holds it directly
    breaks: bool = False  # it begins after two line breaks


@dataclass(slots=True)
class Page:
    """The blocks of a page and its block-level elements, both in order."""

    blocks: list[Block] = field(default_factory=list)
    elements: list[Element] = field(default_factory=list)
    declared: frozenset[str] = frozenset()  # those of `KINDS` that it declares

    @property
    def bare(self) -> bool:
        """Whether none of its elements has a class, as those of HTML made of Markdown or of another format."""
        return not any(element.name.removeprefix(element.tag).strip() for element in self.elements)


KINDS = ("article", "product", "forum", "list", "faq", "og_article")
"""What a page may declare that it is, by the types of schema.org and of Open Graph."""

_TYPES = {
    **dict.fromkeys(("Article", "NewsArticle", "BlogPosting", "ReportageNewsArticle", "LiveBlogPosting"), "article"),
    **dict.fromkeys(("Product", "ProductGroup", "Offer"), "product"),
    **dict.fromkeys(("DiscussionForumPosting", "QAPage", "DiscussionForum"), "forum"),
    **dict.fromkeys(("ItemList", "CollectionPage", "SearchResultsPage", "OfferCatalog"), "list"),
    "FAQPage": "faq",
}
_TYPE = re.compile(r'"@type"\s*:\s*\[?\s*"(\w+)"')


def declared(tree: html.HtmlElement) -> frozenset[str]:
    """Return the kinds that a page declares itself to be."""
    named = {
        name
        for script in tree.iter("script")
        if "ld+json" in (script.get("type") or "")
        for name in _TYPE.findall(script.text or "")
    }
    named.update(str(value).rpartition("/")[2] for value in _ITEM_TYPES(tree))
    kinds = {_TYPES[name] for name in named if name in _TYPES}
    og = {str(value).lower() for value in _OG_TYPES(tree)}
    return frozenset(kinds | ({"og_article"} if "article" in og else set()))


_ITEM_TYPES = etree.XPath("//@itemtype")
_OG_TYPES = etree.XPath("//meta[@property='og:type']/@content")


def read_page(tree: html.HtmlElement, around: bool = False) -> Page:
    """Return the blocks of a page; `around`: those of its navigation, footers and dialogs too."""
    body = tree.find("body")
    body = tree if body is None else body
    page = _Walk(_NEVER if around else _NEVER | _AROUND).over(body)
    if sum(len(block.text) for block in page.blocks) < _LITTLE:
        page = _Walk(_NEVER).over(body)
    page.declared = declared(tree)
    return page


class _Walk:
    def __init__(self, skipped: frozenset[str]) -> None:
        self._skipped = skipped
        self._page = Page()
        self._parts: list[str] = []
        self._linked = self._strong = 0

    def over(self, body: html.HtmlElement) -> Page:
        page, walker = self._page, etree.iterwalk(body, events=("start", "end"))
        current, links, strong, skipped = -1, 0, 0, None
        for event, element in walker:
            tag = element.tag
            inline = tag in INLINE
            if event == "start":
                if tag in self._skipped:
                    walker.skip_subtree()
                    skipped = element
                    if tag in _AROUND and self._parts:
                        self._flush(current)
                    continue
                if tag == "br":
                    self._parts.append(_BREAK)
                elif inline:
                    links += tag == "a"
                    strong += tag in _STRONG
                else:
                    if self._parts:
                        self._flush(current)
                    current = self._open(element, current)
                text = element.text
            else:
                text = element.tail if element is not body else None
                if element is skipped:
                    skipped = None
                elif inline:
                    links -= tag == "a"
                    strong -= tag in _STRONG
                else:
                    if self._parts:
                        self._flush(current)
                    page.elements[current].end = len(page.blocks)
                    current = page.elements[current].parent
            if text and (self._parts or not text.isspace()):
                self._parts.append(text)
                if links:
                    self._linked += len(text.strip())
                if strong:
                    self._strong += len(text.strip())
        return page

    def _open(self, element: html.HtmlElement, parent: int) -> int:
        elements = self._page.elements
        outer = elements[parent] if parent >= 0 else None
        depth = outer.depth + 1 if outer else 0
        tag, attributes = element.tag, element.attrib
        cls = identifier = role = ""
        if attributes:
            cls, identifier, role = (attributes.get(name, "") for name in ("class", "id", "role"))
            if identifier and _is_heading_of(element, identifier):
                identifier = ""
        own, outside = _marks(tag, cls, identifier, role)
        marks = outer.marks if outer else {}
        if own:
            marks = marks | dict.fromkeys(own, depth)
        outside = max(outside, outer.outside) if outer else outside
        elements.append(Element(parent, tag, f"{tag} {cls}", depth, marks, len(self._page.blocks), outside))
        return len(elements) - 1

    def _flush(self, element: int) -> None:
        text = without_invisible("".join(self._parts))
        linked, strong = self._linked, self._strong
        self._parts, self._linked, self._strong = [], 0, 0
        if not text or text.isspace():
            return
        pre = element >= 0 and self._page.elements[element].tag == "pre"
        if pre:
            lines = plain_paragraphs(text.replace(_BREAK, "\n"))
        elif _BREAK in text:
            lines = [line for line in (" ".join(part.split()) for part in _BREAKS.split(text)) if line]
        else:
            lines = [" ".join(text.split())]
        total = sum(map(len, lines))
        for number, line in enumerate(lines):
            share = len(line) / total
            self._page.blocks.append(
                Block(
                    line,
                    min(round(linked * share), len(line)),
                    min(round(strong * share), len(line)),
                    element,
                    number > 0,
                )
            )


_STRONG = names("b strong")


_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_SIGNS = re.compile(r"[\W_]+")


def _is_heading_of(element: html.HtmlElement, identifier: str) -> bool:
    """Tell whether an id was made from the heading at the beginning of an element, and so does not show its kind."""
    if not len(element) or element[0].tag not in _HEADINGS:
        return False
    return _SIGNS.sub("", "".join(element[0].itertext())).casefold() == _SIGNS.sub("", identifier).casefold()


NOTHING, CLASS, TAG = range(3)
_OUTSIDE_TAGS = names("aside button dialog figure footer label menu nav")
_OUTSIDE_ROLES = names("alert banner complementary contentinfo dialog menu navigation search")
_OUTSIDE = re.compile(  # words in `class` and `id` of what surrounds an article
    r"(?:^|[\s_-])(?:ads?|advert[^\W_]*|banner|breadcrumbs?|byline|captions?|comments?|cookies?|disqus[^\W_]*|footer|gdpr|legal"
    r"|login|masthead|menu|meta|modal|nav|navbar|navigation|newsletters?|outbrain|pagination|popup|promos?|recirc[^\W_]*"
    r"|recommend[^\W_]*|related[^\W_]*|reply|share|sharing|sharedaddy|sidebar|signup|social[^\W_]*|sponsor[^\W_]*"
    r"|subscribe|subscription|taboola|tags?|toolbar|trending|widgets?)(?:$|[\s_-])"
    r"|(?:^|[\s_-])(?:read|see|more)[_-](?:more|also|on|from|stories)",
    re.IGNORECASE,
)
_HOMES = names("body html article main")  # never refused by their class


@lru_cache(maxsize=8192)
def _marks(tag: str, cls: str, identifier: str, role: str) -> tuple[tuple[int, ...], int]:
    """Return the marks of an element, and whether they say that it is not of the article."""
    words = _PART.findall(f"{cls[:_LONGEST_NAME]} {identifier[:_LONGEST_NAME]}") if cls or identifier else ()
    named = {mark for word in words if (mark := _WORDS.get(word.lower())) is not None}
    found = named | {mark for mark in (_ROLES.get(role), _TAGS.get(tag)) if mark is not None}
    outside = NOTHING
    if tag in _OUTSIDE_TAGS:
        outside = TAG
    elif tag not in _HOMES and (role in _OUTSIDE_ROLES or (words and _OUTSIDE.search(f"{cls} {identifier}"))):
        outside = CLASS
    return tuple(sorted(found)), outside
