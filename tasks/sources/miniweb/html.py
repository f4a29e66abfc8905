"""Render pages as HTML: four designs, each with navigation, cookie notice, advertisements, sidebar and footer."""

from collections.abc import Iterable
from html import escape

from tasks.sources.miniweb.links import SITES
from tasks.sources.miniweb.pages import PageContent

# Sentences of the chrome; none of them should be found in what an extractor returns.
COOKIES = "We and our 214 partners store cookies on your device. You can accept them all or open the settings."
NEWSLETTER = "Sign up for our newsletter and receive the best stories every Friday."
ADVERTISEMENT = "Advertisement: warm socks for cold mornings, now three pairs for the price of two."
FOOTER = "© 2026 All rights reserved. Imprint, privacy policy, terms of use, contact, media data."
SUBSCRIBE = "You have 2 free articles left this month. Subscribe now for unlimited reading."
CHROME = (COOKIES, NEWSLETTER, ADVERTISEMENT, FOOTER, SUBSCRIBE)

_MENU = "".join(f'<li><a href="/{name.lower()}">{name}</a></li>' for name in ("Home", "News", "Culture", "Contact"))
_AD = f'<div class="ad" aria-label="advertisement">{ADVERTISEMENT}</div>'
_SIDEBAR = f"""<aside class="sidebar"><h4>Most read</h4><ul>{{related}}</ul>
<div class="newsletter">{NEWSLETTER}</div>{_AD}</aside>"""
_FIGURE = '<figure><img src="/static/picture.jpg" alt=""><figcaption>{caption}</figcaption></figure>'
_COMMENTS = (
    '<section id="comments" class="comments"><h3>Comments</h3><ol class="comment-list">{comments}</ol></section>'
)
_DESIGNS = {
    "reference": f"""<div id="content" class="mw-body"><main role="main"><article><h1>{{title}}</h1>
{_FIGURE}\n{{opening}}\n{{rest}}\n</article></main>{_SIDEBAR}</div>""",
    "paper": f"""<div class="paywall-hint">{SUBSCRIBE}</div><main><article class="story"><header><h1>{{title}}</h1>
<p class="byline">By {{author}}, <time>{{date}}</time></p></header>{_FIGURE}<div class="article-body">
{{opening}}\n{_AD}\n{{rest}}\n</div></article>{_COMMENTS}</main>{_SIDEBAR}""",
    "blog": f"""<div class="wrapper"><div class="post"><h1 class="entry-title">{{title}}</h1>
<div class="post-meta">Posted by {{author}} on {{date}}</div><div class="entry-content">
{_FIGURE}\n{{opening}}\n{{rest}}\n</div><ul class="share-buttons"><li><a href="#share-mail">Mail</a></li></ul></div>
{_COMMENTS}{_SIDEBAR}</div>""",
    "board": f"""<div class="page"><div class="breadcrumbs"><a href="/">Home</a> &rsaquo; <a href="/all">All</a></div>
<main id="main"><h1>{{title}}</h1>{_AD}<div class="text">\n{{opening}}\n{{rest}}\n</div></main>{_SIDEBAR}</div>""",
}
LICENCE_URL = "https://creativecommons.org/publicdomain/zero/1.0/"  # the web is ours, and for everybody
_PAGE = f"""<!DOCTYPE html>
<html lang="en"><head><title>{{title}} | {{site}}</title><meta name="author" content="{{author}}">
<link rel="canonical" href="{{url}}"><link rel="license" href="{LICENCE_URL}">
<style>body{{{{font-family:serif}}}} nav,footer{{{{background:#346}}}}</style>
<script>window.dataLayer = window.dataLayer || []; function gtag(){{{{dataLayer.push(arguments);}}}}</script></head>
<body class="{{design}}">
<div id="cookie-banner" class="cookie-notice" role="dialog"><span>{COOKIES}</span><button>Accept all</button></div>
<header class="site-header"><a class="logo" href="/">{{site}}</a><nav><ul class="menu">{_MENU}</ul></nav></header>
{{body}}
<footer class="site-footer"><p>{FOOTER}</p><p>{{site}}</p></footer></body></html>
"""


def render_html(page: PageContent) -> str:
    """Return the page as an HTML5 document; it declares no character set."""
    genre = SITES[page.genre]
    words = {name: escape(getattr(page, name)) for name in ("title", "author", "date", "caption", "url")}
    blocks = [f"<{tag}>{_linked(text, page)}</{tag}>" for tag, text in page.blocks]
    items = (f'<li class="comment"><b>{escape(name)}</b><p>{escape(text)}</p></li>' for name, text in page.comments)
    words |= {"opening": "\n".join(blocks[:3]), "rest": "\n".join(blocks[3:]), "comments": "\n".join(items)}
    words |= {"site": escape(genre.site), "design": genre.design, "related": _links(page.related)}
    return _PAGE.format(body=_DESIGNS[genre.design].format_map(words), **words)


def render_listing(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a page that lists links: (text, URL) each."""
    head = f'<meta charset="utf-8"><title>{escape(title)}</title>'
    return f'<!DOCTYPE html>\n<html lang="en">{head}<h1>{escape(title)}</h1>\n<ul>\n{_links(rows)}\n</ul></html>\n'


def _linked(text: str, page: PageContent) -> str:
    """Return a paragraph in which the first mention of every related topic is a link."""
    markup = escape(text, quote=False)
    for name, url in page.related:
        markup = markup.replace(escape(name, quote=False), f'<a href="{url}">{escape(name, quote=False)}</a>', 1)
    return markup


def _links(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f'<li><a href="{escape(url)}">{escape(text)}</a></li>' for text, url in rows)
