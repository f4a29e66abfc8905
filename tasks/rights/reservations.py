"""Signs that a site reserves its rights against the mining of its texts.

Four kinds are read: the TDM Reservation Protocol (W3C community group report, 2024: header or meta `tdm-reservation`,
the site's tdmrep.json), the directives `noai` and `noimageai` of `X-Robots-Tag` and of the meta `robots`, the site's
ai.txt, and a robots.txt that forbids the page to us. tdmrep.json and ai.txt are asked for only where the crawl's
settings say so (`tasks.crawl.reservation_files`). A page without any of these signs may still reserve its rights
elsewhere, in its terms of use for example.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the crawl reads headers and needs no parser of HTML
    from lxml import html

# Entries among the stored headers for what the site's files say of a page; archives keep them as headers.
AI_TXT, TDMREP = "ai.txt: disallow", "tdmrep.json: 1"
_FILE_NAMES = tuple(sign.partition(":")[0] for sign in (AI_TXT, TDMREP))
_NAMES = ("tdm-reservation", "x-robots-tag", "link", *_FILE_NAMES)
_NO_AI = frozenset({"noai", "noimageai"})
# Directives of X-Robots-Tag that have a value; any other word before a colon names the crawler that is meant.
_VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_SIGNS = ("noai", "imageai", "tdm-reservation", "NoAI", "NOAI")  # of what follows; most pages have none
_SCOPE = re.compile(r"\s*([\w.*-]+)\s*:(.*)", re.DOTALL)
_MOST = 1_000  # characters of a stored header; longer ones are cut
_LINK = re.compile(r'<([^<>]*)>[^<>]*?;\s*rel\s*=\s*"?[^",;]*\blicense\b', re.IGNORECASE)


def rights_headers(headers: Mapping[str, str]) -> list[str]:
    """Return the response headers that say something of rights, as `name: value`.

    Args:
        headers: response headers, names in lower case; the Internet Archive puts a prefix before those of the page.
    """
    values = {name: headers.get(name) or headers.get(f"x-archive-orig-{name}") or "" for name in _NAMES}
    if not _LINK.search(values["link"]):
        values["link"] = ""
    return [
        f"{name}: {value[:_MOST]}"
        for name, value in values.items()
        if value and value.isascii() and value.isprintable()
    ]


def header_reservations(headers: Iterable[str]) -> list[str]:
    """Return the signs among stored headers (`rights_headers`), each with its place, such as "header noai"."""
    found: list[str] = []
    for name, _, value in (header.partition(": ") for header in headers):
        if name == "tdm-reservation" and _is_reserved(value):
            found.append("header tdm-reservation")
        elif name == "x-robots-tag":
            found += [f"header {word}" for word in _no_ai(value)]
        elif name in _FILE_NAMES:
            found.append(name)
    return found


def of_other_files(headers: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return stored headers with other entries for the site's files, such as `AI_TXT`."""
    return [*(header for header in headers if header not in (AI_TXT, TDMREP)), *files]


def header_licences(headers: Iterable[str]) -> list[str]:
    """Return the addresses that stored headers name as the page's licence (`Link`, relation `license`)."""
    links = (value for name, _, value in (header.partition(": ") for header in headers) if name == "link")
    return [address for value in links for address in _LINK.findall(value)]


def page_reservations(source: str, tree: "html.HtmlElement") -> list[str]:
    """Return the signs in a page's own `<meta>` elements, such as "meta noai".

    Args:
        source: the page's HTML.
        tree: its tree.
    """
    end = source.find("</head>")  # such elements stand in the head (HTML, 4.2.5)
    if all(source.find(sign, 0, end if end >= 0 else len(source)) < 0 for sign in _SIGNS):
        return []
    found: list[str] = []
    for meta in tree.xpath("//meta[@name][@content]"):
        name, content = meta.get("name").strip().lower(), meta.get("content")
        if name == "tdm-reservation" and _is_reserved(content):
            found.append("meta tdm-reservation")
        elif name == "robots":
            found += [f"meta {word}" for word in _no_ai(content)]
    return list(dict.fromkeys(found))


def _is_reserved(value: str) -> bool:
    return value.strip() == "1"


def _no_ai(value: str) -> Iterator[str]:
    """Yield the directives against AI that are meant for every crawler, each once."""
    meant = True
    seen: set[str] = set()
    for part in value.split(","):
        scope = _SCOPE.fullmatch(part)
        if scope is not None and scope[1].lower() not in _VALUED:
            meant, part = scope[1] == "*", scope[2]
        word = part.strip().lower()
        if meant and word in _NO_AI and word not in seen:
            seen.add(word)
            yield word
