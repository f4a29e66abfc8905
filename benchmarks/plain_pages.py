"""Small plain pages made of the paragraphs of real ones, and real pages without their design: layouts that a corpus of
large sites lacks, from which the classifiers of main text learn too (`benchmarks/main_text.py`)."""

import html
import random
from collections.abc import Sequence
from dataclasses import dataclass

from lxml.html import HtmlElement

from tasks.extraction.blocks import Page, read_page

_MENU = [
    "Home",
    "News",
    "About us",
    "Contact",
    "Blog",
    "Products",
    "Events",
    "Archive",
    "Services",
    "Team",
    "Shop",
    "FAQ",
    "Support",
    "Forum",
    "Press",
    "Jobs",
]
_FOOT = ["Privacy", "Contact", "Imprint", "Terms of use", "Sitemap", "Cookies", "Accessibility"]
_NAMES = [
    "Monday",
    "Length",
    "Width",
    "Built",
    "Owner",
    "Area",
    "Height",
    "Opened",
    "Population",
    "Price",
    "Weight",
    "County",
    "Sunday",
    "Closed",
]
_VALUES = ["1874", "31 km", "10:00 AM to 8:00 PM", "Closed", "3.4 m", "1,200", "12 500 kg", "Ardal", "yes", "42 %"]
_LAYOUTS = {
    "p": "{head}<p>{text}</p>",
    "div": "{head}<div>{text}</div>",
    "br": "{head}{text}<br><br>",
    "bare": "<section>{head}{text}</section>",
    "section": '<div class="section level2" id="s{number}">{head}<p>{text}</p></div>',
    "cards": "<article><section>{head}{text}</section></article>",
    "boxes": '<div class="x{number}">{head}<p>{text}</p></div>',
    "table": "<tr><td>{head}{text}</td></tr>",
    "dl": "<dd>{text}</dd>",
    "li": "<li>{text}</li>",
}
_AROUND = {"table": "<table>{}</table>", "dl": "<dl>{}</dl>", "li": "<ul>{}</ul>"}
_MAINS = [
    "<article>{}</article>",
    "<main>{}</main>",
    "<div>{}</div>",
    "{}",
    "<main><article>{}</article></main>",
    '<div class="content">{}</div>',
    '<div class="document">{}</div>',
    '<div id="main">{}</div>',
]
_MENUS = [
    "<header><nav><ul>{}</ul></nav></header>",
    "<nav><ul>{}</ul></nav>",
    "<ul>{}</ul>",
    '<div class="menu"><ul>{}</ul></div>',
]
_FEET = ["<footer>{}</footer>", '<div id="footer">{}</div>', "{}"]
_COMMENTS = [
    '<div class="x7">{}</div>',
    '<div class="comments"><h3>Comments</h3>{}</div>',
    '<section id="comments">{}</section>',
]
_CELLS = ["{}", "<div>{}</div>", "<p>{}</p>", "<ul><li>{}</li></ul>"]


@dataclass(frozen=True)
class Parts:
    """What a page is made of."""

    title: str
    paragraphs: Sequence[str]
    headings: Sequence[str]
    comments: Sequence[str]  # of others, for what is around a page's text


def plain_page(parts: Parts, choose: random.Random) -> tuple[str, str]:
    """Return the HTML of a page and its true text, a line a block."""
    count = choose.choice([1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10])
    start = choose.randrange(max(1, len(parts.paragraphs) - count + 1))
    layout = choose.choice(["p", "p", "p", *_LAYOUTS])
    true, body = [], ""
    for number, text in enumerate(parts.paragraphs[start : start + count]):
        head = ""
        if "{head}" in _LAYOUTS[layout] and choose.random() < 0.35:
            heading = choose.choice(parts.headings or ["Overview"])
            level = choose.choice([2, 2, 3])
            head = f"<h{level}>{html.escape(heading)}</h{level}>"
            true.append(heading)
        true.append(text)
        body += _LAYOUTS[layout].format(head=head, text=html.escape(text), number=number)
    body = _AROUND.get(layout, "{}").format(body)
    if choose.random() < 0.25 and layout not in ("dl", "li"):
        table, cells = _table(choose)
        body += table
        true += cells
    if choose.random() < 0.8:
        body = f"<h1>{html.escape(parts.title.split(' | ')[0])}</h1>{body}"
    before, after = _surroundings(parts, choose)
    page = choose.choice(_MAINS).format(body)
    return (
        f"<html><head><title>{html.escape(parts.title)}</title></head><body>{before}{page}{after}</body></html>",
        "\n".join(true),
    )


def _table(choose: random.Random) -> tuple[str, list[str]]:
    rows, cells = "", []
    for _ in range(choose.randrange(2, 6)):
        name, value = choose.choice(_NAMES), choose.choice(_VALUES)
        rows += f"<tr><td>{name}</td><td>{choose.choice(_CELLS).format(value)}</td></tr>"
        cells += [name, value]
    return f"<table>{rows}</table>", cells


def _surroundings(parts: Parts, choose: random.Random) -> tuple[str, str]:
    before = after = ""
    if choose.random() < 0.6:
        links = "".join(
            f'<li><a href="/{name}">{name}</a></li>' for name in choose.sample(_MENU, choose.randrange(2, 10))
        )
        before = choose.choice(_MENUS).format(links)
    if choose.random() < 0.15:
        before += f'<div class="hero"><p>{html.escape(choose.choice(parts.comments)[:140])}</p></div>'
    if choose.random() < 0.35:
        # Some are nearly the same text each time, as those of a machine.
        pool = parts.comments if choose.random() < 0.6 else [choose.choice(parts.comments)]
        said = (choose.choice(pool)[: choose.randrange(60, 260)] for _ in range(choose.randrange(2, 20)))
        posts = (f'<div class="c{n}"><b>user{n}</b> <p>{html.escape(text)}</p></div>' for n, text in enumerate(said))
        after = choose.choice(_COMMENTS).format("".join(posts))
    if choose.random() < 0.5:
        links = "".join(f'<li><a href="/f">{name}</a></li>' for name in choose.sample(_FOOT, 3))
        text = f"<p>© 2026 {html.escape(parts.title[:20])} Society</p><ul>{links}</ul>"
        after += choose.choice(_FEET).format(text)
    return before, after


_KEPT_TAGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "pre", "li"})
_LINK = 0.7  # of a block's characters in links: all of it becomes one


def bare_page(tree: HtmlElement, title: str) -> str:
    """Return the HTML of a page without its design, as tools make it that save a page as Markdown. All its blocks are
    headings, paragraphs and items of lists with their links and without classes, also those of navigation and footers.
    `visible.show` took from the tree what is hidden."""
    page = read_page(tree, around=True)
    body = ""
    for block in page.blocks:
        count = len(block.text) if block.linked >= _LINK * len(block.text) else block.linked
        link, rest = html.escape(block.text[:count]), html.escape(block.text[count:])
        text = f'<a href="/x">{link}</a>{rest}' if count else rest
        tag = _tag(page, block.element)
        body += f"<ul><li>{text}</li></ul>" if tag == "li" else f"<{tag}>{text}</{tag}>"
    body = body.replace("</ul><ul>", "")
    head = html.escape(title)
    return f"<html><head><title>{head}</title></head><body><h1>{head}</h1>{body}</body></html>"


def _tag(page: Page, at: int) -> str:
    """Return the tag that an element's text gets: that of the nearest element around it that Markdown has."""
    while at >= 0:
        element = page.elements[at]
        if element.tag in _KEPT_TAGS:
            return element.tag
        if element.tag in ("td", "th", "p"):
            break
        at = element.parent
    return "p"
