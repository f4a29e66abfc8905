"""The fast engine: find the main text by weighing blocks of text, in one pass over the tree.

A page is a sequence of blocks (the text between two block-level tags). The weight of prose is its length; blocks of
links, and short blocks without a full stop, have negative weight. The element with the largest total weight contains
the main text; within it the heaviest run of blocks is the main text (Kadane's maximum subarray, with the cost of a gap
capped, so that an advertisement between two sections cuts nothing off)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lxml import etree, html

from tasks.extraction.markup import INLINE, names, plain_paragraphs

# Elements that never contain prose of the article.
_NEVER = names(
    "audio aside button canvas dialog embed figure footer head iframe input label map math menu nav noscript object "
    "script select style svg template textarea video"
)
_HEADINGS = names("h1 h2 h3 h4 h5 h6")
_HOMES = names("body html article main")  # never refused by their class
_ROLES = names("alert banner complementary contentinfo dialog menu navigation search")
_REFUSED = re.compile(  # words in `class` and `id` of what surrounds an article
    r"(?:^|[\s_-])(?:ads?|advert[^\W_]*|banner|breadcrumbs?|byline|captions?|comments?|cookies?|disqus[^\W_]*|footer|gdpr|legal"
    r"|login|masthead|menu|meta|modal|nav|navbar|navigation|newsletters?|outbrain|pagination|popup|promos?|recirc[^\W_]*"
    r"|recommend[^\W_]*|related[^\W_]*|reply|screen-reader-text|share|sharing|sharedaddy|sidebar|signup|social[^\W_]*|sponsor[^\W_]*"
    r"|sr-only|subscribe|subscription|taboola|tags?|toolbar|trending|visually-hidden|widgets?)(?:$|[\s_-])"
    r"|(?:^|[\s_-])(?:read|see|more)[_-](?:more|also|on|from|stories)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"""[.!?…。।؟:;][\s"”'’»)\]]*$""")
_BREAK = "\v"  # stands for <br>; no page has it, because parsing takes control characters out
_BREAKS = re.compile(r"\v\s*\v")

_LINKED = 0.5  # share of a block's characters inside links from which it counts as navigation
_GAP = 300.0  # characters of prose that pay for any gap between two runs of prose
_ELSEWHERE = 1.5  # the heaviest run of the whole page is used if it weighs this many times that of the best element
_SMALL = 1000.0  # below so many characters, elements of refused classes are also read: they may contain the article


@dataclass
class Block:
    """Text between two block-level tags, its lines separated by line feeds; `linked` characters of it are in links."""

    text: str
    linked: int
    tag: str

    @property
    def is_navigation(self) -> bool:
        """Whether most of its text is inside links."""
        return self.linked > _LINKED * len(self.text)

    def weight(self) -> float:
        """Return characters of prose, or a negative number for what is not prose."""
        length = len(self.text)
        if self.is_navigation:
            return -30 - min(0.3 * length, 150)
        if self.tag in _HEADINGS:
            return -5
        ends = _SENTENCE_END.search(self.text)
        if length < 100 and not ends:
            return -10
        return length / 2 if length < 40 else length * (1 - self.linked / length)


def extract_density(tree: html.HtmlElement) -> list[str]:
    """Return the paragraphs of a page's main text, in order; none if it has no prose."""
    body = tree.find(".//body")
    chosen, weight = _main_text(_Walk(refuse=True).over(tree if body is None else body))
    if weight < _SMALL:
        wider, wider_weight = _main_text(_Walk(refuse=False).over(tree if body is None else body))
        if wider_weight > 2 * weight:
            chosen = wider
    return [line for block in chosen if not block.is_navigation for line in block.text.split("\n")]


def page_blocks(tree: html.HtmlElement) -> list[Block]:
    """Return the blocks of text below an element, in order, ignoring classes and roles."""
    return _Walk(refuse=False).over(tree).blocks


def _main_text(page: "_Walk") -> tuple[Sequence[Block], float]:
    weights = [block.weight() for block in page.blocks]
    sums = [0.0]
    for weight in weights:
        sums.append(sums[-1] + weight)
    home, heaviest = (0, 0), 0.0
    for start, end in page.elements:
        if sums[end] - sums[start] > heaviest:
            home, heaviest = (start, end), sums[end] - sums[start]
    start, end, weight = _heaviest_run(weights, *home)
    anywhere = _heaviest_run(weights, 0, len(weights))
    if anywhere[2] > _ELSEWHERE * weight:
        start, end, weight = anywhere
    return page.blocks[start:end], weight


def _heaviest_run(weights: Sequence[float], start: int, end: int) -> tuple[int, int, float]:
    """Return (start, end, weight) of the heaviest run within [start, end); a gap costs `_GAP` at most."""
    best = (start, start, 0.0)
    run, run_start, gap = 0.0, start, 0.0
    for i in range(start, end):
        weight = weights[i]
        if weight <= 0:
            weight = max(weight, gap - _GAP)
            gap -= weight
        else:
            gap = 0.0
            if run <= 0:
                run, run_start = 0.0, i
        run += weight
        if run > best[2]:
            best = (run_start, i + 1, run)
    return best


@dataclass
class _Walk:
    """The blocks of a page, and the run of blocks that each block-level element covers."""

    refuse: bool  # leave out elements by role, class and visibility, not only by tag
    blocks: list[Block] = field(default_factory=list)
    elements: list[tuple[int, int]] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _linked: int = 0

    def over(self, body: html.HtmlElement) -> "_Walk":
        """Read the tree below `body` and return self."""
        walker = etree.iterwalk(body, events=("start", "end"))
        starts: list[int] = []
        links = 0
        tag, skipped = "body", None
        for event, element in walker:
            inline = element.tag in INLINE
            if event == "start":
                if element.tag in _NEVER or (self.refuse and element is not body and _is_refused(element, inline)):
                    walker.skip_subtree()
                    skipped = element
                    if not inline:
                        self._flush(tag)
                    continue
                if element.tag == "br":
                    self._parts.append(_BREAK)
                links += element.tag == "a"
                if not inline:
                    self._flush(tag)
                    starts.append(len(self.blocks))
                    tag = element.tag
                self._add(element.text, links)
                continue
            if element is skipped:
                skipped = None
            else:
                links -= element.tag == "a"
                if not inline:
                    self._flush(tag)
                    self.elements.append((starts.pop(), len(self.blocks)))
            if element is not body:
                self._add(element.tail, links)
        return self

    def _add(self, text: str | None, links: int) -> None:
        if text:
            self._parts.append(text)
            if links:
                self._linked += len(text.strip())

    def _flush(self, tag: str) -> None:
        if not self._parts:
            return
        text = "".join(self._parts)
        lines = plain_paragraphs(text) if tag == "pre" else [" ".join(part.split()) for part in _BREAKS.split(text)]
        text = "\n".join(line for line in lines if line)
        if text:
            self.blocks.append(Block(text, min(self._linked, len(text)), tag))
        self._parts, self._linked = [], 0


def _is_refused(element: html.HtmlElement, inline: bool) -> bool:
    """Tell whether an element is hidden, or its role or class says that it is not the article."""
    attributes = element.attrib
    if not attributes or element.tag in _HOMES:
        return False
    if attributes.get("role") in _ROLES or "hidden" in attributes:
        return True
    if "display:none" in attributes.get("style", "").replace(" ", "").lower():
        return True
    if inline:
        return False
    if attributes.get("aria-hidden") == "true":
        return True
    return _REFUSED.search(f"{attributes.get('class', '')} {attributes.get('id', '')}") is not None
