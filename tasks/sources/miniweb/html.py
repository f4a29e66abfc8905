"""Dresses pages in HTML: four designs, each with navigation, cookie notice, advertisements, sidebar and footer."""

from collections.abc import Sequence
from html import escape

from tasks.sources.miniweb.links import GENRES
from tasks.sources.miniweb.pages import SITES, Page

# Sentences of the chrome; none of them should be found in what an extractor returns.
COOKIES = "We and our 214 partners store cookies on your device. You can accept them all or open the settings."
NEWSLETTER = "Sign up for our newsletter and receive the best stories every Friday."
ADVERTISEMENT = "Advertisement: warm socks for cold mornings, now three pairs for the price of two."
FOOTER = "© 2026 All rights reserved. Imprint, privacy policy, terms of use, contact, media data."
SUBSCRIBE = "You have 2 free articles left this month. Subscribe now for unlimited reading."
CHROME = (COOKIES, NEWSLETTER, ADVERTISEMENT, FOOTER, SUBSCRIBE)

_DESIGNS = dict.fromkeys(GENRES, "paper") | {
    "atlas": "reference", "almanac": "reference", "academy": "reference", "archive": "reference", "mirror": "reference",
    "wikicopy": "reference", "journal": "blog", "visit": "blog", "forum": "board", "reviews": "board",
    "tickets": "board",
}  # fmt: skip
_MENU = ("Home", "News", "Culture", "Nature", "Travel", "Opinion", "Archive", "Contact")
_COLOURS = {"reference": "#346", "paper": "#822", "blog": "#264", "board": "#535"}


def render_html(page: Page) -> str:
    """Return the page as an HTML5 document; it declares no character set of its own."""
    design = _DESIGNS[page.genre]
    body = {"reference": _reference, "paper": _paper, "blog": _blog, "board": _board}[design](page)
    site, title = escape(SITES[page.genre]), escape(page.title)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<title>{title} | {site}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="author" content="{escape(page.author)}">\n<link rel="canonical" href="{page.url}">\n'
        f"<style>body{{font-family:serif;margin:0}}nav,footer{{background:{_COLOURS[design]};color:#fff}}"
        ".ad{border:1px solid #999}</style>\n"
        "<script>window.dataLayer = window.dataLayer || []; function gtag(){dataLayer.push(arguments);}</script>\n"
        f'</head>\n<body class="{design}">\n{_cookie_notice()}\n{_header(site)}\n'
        f"{body}\n{_footer(site)}\n</body>\n</html>\n"
    )


def _reference(page: Page) -> str:
    return (
        f'<div id="content" class="mw-body"><main role="main"><article>\n<h1>{escape(page.title)}</h1>\n'
        f"{_figure(page)}\n{_blocks(page)}\n</article></main>\n{_sidebar(page)}</div>"
    )


def _paper(page: Page) -> str:
    return (
        f'<div class="paywall-hint">{SUBSCRIBE}</div>\n<main>\n<article class="story">\n<header>'
        f"<h1>{escape(page.title)}</h1>"
        f'<p class="byline">By {escape(page.author)}, <time>{page.date}</time></p></header>\n{_figure(page)}\n'
        f'<div class="article-body">\n{_blocks(page, advertise_after=2)}\n</div>\n</article>\n'
        f"{_comments(page)}\n</main>\n"
        f"{_sidebar(page)}"
    )


def _blog(page: Page) -> str:
    share = "".join(f'<li><a href="#share-{name.lower()}">{name}</a></li>' for name in ("Mail", "Print", "Copy link"))
    return (
        f'<div class="wrapper"><div class="post">\n<h1 class="entry-title">{escape(page.title)}</h1>\n'
        f'<div class="post-meta">Posted by {escape(page.author)} on {page.date}</div>\n<div class="entry-content">\n'
        f'{_figure(page)}\n{_blocks(page)}\n</div>\n<ul class="share-buttons">{share}</ul>\n</div>\n{_comments(page)}\n'
        f"{_sidebar(page)}</div>"
    )


def _board(page: Page) -> str:
    return (
        f'<div class="page"><div class="breadcrumbs"><a href="/">Home</a> &rsaquo; <a href="/all">All</a></div>\n'
        f'<main id="main">\n<h1>{escape(page.title)}</h1>\n<div class="ad">{ADVERTISEMENT}</div>\n'
        f'<div class="text">\n{_blocks(page)}\n</div>\n</main>\n{_sidebar(page)}</div>'
    )


def _blocks(page: Page, advertise_after: int = -1) -> str:
    linked = dict(page.related)
    lines = []
    for place, (tag, text) in enumerate(page.blocks):
        markup = escape(text, quote=False)
        for name, url in linked.items():
            if name in text:
                markup = markup.replace(
                    escape(name, quote=False), f'<a href="{url}">{escape(name, quote=False)}</a>', 1
                )
        lines.append(f"<{tag}>{markup}</{tag}>")
        if place == advertise_after:
            lines.append(f'<div class="ad" aria-label="advertisement">{ADVERTISEMENT}</div>')
    return "\n".join(lines)


def _figure(page: Page) -> str:
    return f'<figure><img src="/static/picture.jpg" alt=""><figcaption>{escape(page.caption)}</figcaption></figure>'


def _comments(page: Page) -> str:
    if not page.comments:
        return ""
    items = "\n".join(
        f'<li class="comment"><b class="comment-author">{escape(name)}</b><p>{escape(text, quote=False)}</p></li>'
        for name, text in page.comments
    )
    return (
        f'<section id="comments" class="comments"><h3>Comments</h3><ol class="comment-list">\n{items}\n</ol></section>'
    )


def _cookie_notice() -> str:
    return (
        f'<div id="cookie-banner" class="cookie-notice" role="dialog"><span>{COOKIES}</span>'
        "<button>Accept all</button><button>Settings</button></div>"
    )


def _header(site: str) -> str:
    menu = "".join(f'<li><a href="/{entry.lower()}">{entry}</a></li>' for entry in _MENU)
    logo = f'<a class="logo" href="/">{site}</a>'
    return f'<header class="site-header">{logo}<nav><ul class="menu">{menu}</ul></nav></header>'


def _sidebar(page: Page) -> str:
    items = "".join(f'<li><a href="{url}">{escape(text)}</a></li>' for text, url in page.related)
    return (
        f'<aside class="sidebar"><h4>Most read</h4><ul>{items}</ul>\n<div class="newsletter">{NEWSLETTER}</div>\n'
        f'<div class="ad">{ADVERTISEMENT}</div></aside>'
    )


def _footer(site: str) -> str:
    return f'<footer class="site-footer"><p>{FOOTER}</p><p>{site}</p></footer>'


def render_listing(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return a page that lists links: (URL, text) each."""
    items = "\n".join(f'<li><a href="{escape(url)}">{escape(text)}</a></li>' for url, text in rows)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f"<body><h1>{escape(title)}</h1>\n<ul>\n{items}\n</ul>\n</body>\n</html>\n"
    )
