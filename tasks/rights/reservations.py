"""Signs that a site reserves its rights against the mining of its texts.

Four kinds are read: the TDM Reservation Protocol (W3C community group report, 2024: header or meta `tdm-reservation`,
the site's tdmrep.json), the directives `noai`, `noimageai` and `noml` of `X-Robots-Tag`, as a header or as a meta
element, and of the meta `robots`, the site's ai.txt, and a robots.txt that forbids the page to us. tdmrep.json and
ai.txt are asked for only where the crawl's settings say so (`tasks.crawl.reservation_files`). A page without any of
these signs may still reserve its rights elsewhere, in its terms of use for example.

Directives may be for one crawler. They speak of what texts are used for, not of who fetches them, so they are signs
with its name, such as "header noai for gptbot"."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the crawl reads headers and needs no parser of HTML
    from lxml import html

# Entries among the stored headers for what the site's files say of a page; archives keep them as headers.
AI_TXT, TDMREP = "ai.txt: disallow", "tdmrep.json: 1"
_FILE_NAMES = tuple(sign.partition(":")[0] for sign in (AI_TXT, TDMREP))
_NAMES = ("tdm-reservation", "x-robots-tag", "link", *_FILE_NAMES)
_NO_AI = frozenset({"noai", "noimageai", "noml"})
# Directives of X-Robots-Tag that have a value; any other word before a colon names the crawler that is meant.
_VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_SIGNS = (*_NO_AI, "tdm-reservation")  # of what follows; most pages have none
_SCOPE = re.compile(r"\s*([\w.*-]+)\s*:(.*)", re.DOTALL)
# Names of meta elements that are directives for one crawler, and not keywords or a description.
_NAME = re.compile(r"[\w.-]+", re.ASCII)
_CRAWLER = re.compile(r"bot|crawler|spider|extended|anthropic-ai")
_MOST = 1_000  # characters of a header or of a meta element
_LINK = re.compile(r'<([^<>]*)>[^<>]*?;\s*rel\s*=\s*"?[^",;]*\blicense\b', re.IGNORECASE)


def rights_headers(headers: Mapping[str, str]) -> list[str]:
    """Return the headers, names in lower case, that say something of rights, also with the Archive's prefix."""
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
            found += [f"header {directive}" for directive in _no_ai(value)]
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
    """Return the signs in a page's own `<meta>` elements, such as "meta noai"."""
    found: list[str] = []
    for meta in tree.iter("meta"):
        name = (meta.get("name") or meta.get("http-equiv") or "").strip().lower()
        content = (meta.get("content") or "")[:_MOST]
        if name == "tdm-reservation" and _is_reserved(content):
            found.append("meta tdm-reservation")
        elif name in ("robots", "x-robots-tag"):
            found += [f"meta {directive}" for directive in _no_ai(content)]
        elif _NAME.fullmatch(name) and _CRAWLER.search(name):
            found += [f"meta {directive}" for directive in _no_ai(content, name)]
    return list(dict.fromkeys(found))


def _is_reserved(value: str) -> bool:
    return value.strip() == "1"


def _no_ai(value: str, crawler: str = "*") -> Iterator[str]:
    """Yield the directives against AI, each once, such as "noai" and "noai for gptbot". Headers of one name are joined
    by commas: one without a crawler's name then stands after the name of another. `crawler` is the one that the
    directives are for where they name none, lower-case; `*` = all."""
    seen: set[str] = set()
    for part in value.lower().split(","):
        scope = _SCOPE.fullmatch(part)
        if scope is not None and scope[1] not in _VALUED:
            crawler, part = scope.groups()
        for word in re.split(r"[\s;]+", part):
            directive = word if crawler == "*" else f"{word} for {crawler}"
            if word in _NO_AI and directive not in seen:
                seen.add(directive)
                yield directive
