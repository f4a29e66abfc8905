"""Render pages as HTML, in the designs of `html.toml`."""

import re
from collections.abc import Iterable, Mapping
from html import escape

from tasks.engine.data_files import read_data
from tasks.sources.miniweb.links import SITES
from tasks.sources.miniweb.pages import PageContent

_HTML = read_data("tasks.sources.miniweb", "html.toml")
_TEXTS: Mapping[str, str] = _HTML["chrome"] | _HTML["parts"]
CHROME = tuple(_HTML["chrome"].values())  # no extractor should return any of these sentences
LICENCE_URL = "https://creativecommons.org/publicdomain/zero/1.0/"  # the web is ours, and for everybody


def _composed(text: str) -> str:
    return re.sub("<<([a-z]+)>>", lambda name: _composed(_TEXTS[name[1]]), text)


_DESIGNS = {name: _composed(text) for name, text in _HTML["designs"].items()}
_PAGE = _composed(_TEXTS["page"])


def render_html(page: PageContent) -> str:
    """Return the page as an HTML5 document; it declares no character set."""
    genre = SITES[page.genre]
    words = {name: escape(getattr(page, name)) for name in ("title", "author", "date", "caption", "url")}
    blocks = [f"<{tag}>{_linked(text, page)}</{tag}>" for tag, text in page.blocks]
    items = (f'<li class="comment"><b>{escape(name)}</b><p>{escape(text)}</p></li>' for name, text in page.comments)
    words |= {"opening": "\n".join(blocks[:3]), "rest": "\n".join(blocks[3:]), "comments": "\n".join(items)}
    words |= {"site": escape(genre.site), "design": genre.design, "related": _links(page.related)}
    return _PAGE.format(body=_DESIGNS[genre.design].format_map(words), licence=LICENCE_URL, **words)


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
