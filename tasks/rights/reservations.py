"""Signs that a site reserves its rights against the mining of its texts, and which uses they leave.

The signs are:

* the TDM Reservation Protocol (W3C community group report, 2024): header or meta `tdm-reservation`, the site's
  tdmrep.json
* the directives `noai`, `noimageai` and `noml` of `X-Robots-Tag`, as a header or meta element, and of the meta `robots`
* the preferences of Content-Signal (draft-romm-aipref-contentsignals: `ai-train`, `ai-input`, `search`) and of
  Content-Usage (draft-ietf-aipref-attach and -vocab: `train-ai`, `bots`) in robots.txt, header and meta
* the licences of RSL (Really Simple Licensing 1.0: robots.txt, `Link`, a link or script of the page), whose terms are
  not read
* the site's ai.txt, and a robots.txt that forbids the page to us

The crawl requests tdmrep.json and ai.txt only if its settings say so (`tasks.crawl.site_rules`). A page without any of
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
_UNREAD = "unread"  # the file may be there and could not be read
UNREAD = {AI_TXT: f"ai.txt: {_UNREAD}", TDMREP: f"tdmrep.json: {_UNREAD}"}
ROBOTS_TXT = "robots.txt: "  # and the preferences that it states of the page
_FILE_NAMES = tuple(sign.partition(":")[0] for sign in (AI_TXT, TDMREP))
PREFERENCES = ("content-signal", "content-usage")
_NAMES = ("tdm-reservation", "x-robots-tag", "link", *PREFERENCES, *_FILE_NAMES, "robots.txt")
_NO_AI = frozenset({"noai", "noimageai", "noml"})
# Directives of X-Robots-Tag that have a value; any other word before a colon names the crawler that is meant.
_VALUED = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_PREFERENCE = re.compile(
    r"(?<![\w-])(bots|[a-z]+-[a-z]+|search)\s*=\s*\"?(yes|no|y|n)(?![\w-])", re.IGNORECASE | re.ASCII
)
# Of a page with no other sign texts may be learned: the others speak of pictures, search, or models that read a page.
_OTHER_USE = re.compile(r"noimageai|(?:search|ai-input|ai-output|ai-use)=|with train")
RSL = "rsl"
_RSL_TYPE = "application/rsl+xml"
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
    results: list[str] = []
    for name, _, value in (header.partition(": ") for header in headers):
        if name == "tdm-reservation" and value.strip() == "1":
            results.append("header tdm-reservation")
        elif name == "x-robots-tag":
            results += [f"header {directive}" for directive in _no_ai(value)]
        elif name in PREFERENCES:
            results += [f"header {preference}" for preference in preferences(name, value)]
        elif name == "link" and any(
            _RSL_TYPE in link.lower() and _LINK.match(f"<{link}") for link in value.split("<")[1:]
        ):
            results.append(f"header {RSL}")
        elif name == "robots.txt":
            results += [f"robots.txt {preference}" for preference in value.split(", ")]
        elif name in _FILE_NAMES:
            results.append(f"{name} {_UNREAD}" if value == _UNREAD else name)
    return results


def reserves_training(sign: str) -> bool:
    """Tell whether a sign reserves texts against the training of models, and not only against another use."""
    return _OTHER_USE.search(sign) is None


def preferences(name: str, value: str) -> list[str]:
    """Return what a Content-Signal or Content-Usage refuses, such as "content-signal ai-train=no". A refusal of all
    automated processing (`bots`) leaves training where that is allowed by name."""
    stated = {key.lower(): answer.lower() for key, answer in _PREFERENCE.findall(value[:_MOST])}
    trains = next((f" with {key}" for key, answer in stated.items() if "train" in key and answer[0] == "y"), "")
    return [
        f"{name} {key}={answer}{trains if key == 'bots' else ''}" for key, answer in stated.items() if answer[0] == "n"
    ]


def of_other_files(headers: Iterable[str], files: Iterable[str]) -> list[str]:
    """Return stored headers with other entries for the site's files, such as `AI_TXT`."""
    of_page = (header for header in headers if not header.startswith((*_FILE_NAMES, ROBOTS_TXT)))
    return [*of_page, *files]


def header_licences(headers: Iterable[str]) -> list[str]:
    """Return the addresses that stored headers name as the page's licence (`Link`, relation `license`)."""
    links = (value for name, _, value in (header.partition(": ") for header in headers) if name == "link")
    return [address for value in links for address in _LINK.findall(value)]


def page_reservations(tree: "html.HtmlElement") -> list[str]:
    """Return the signs in a page's own elements, such as "meta noai"."""
    results: list[str] = []
    for meta in tree.iter("meta"):
        name = (meta.get("name") or meta.get("http-equiv") or "").strip().lower()
        content = (meta.get("content") or "")[:_MOST]
        if name == "tdm-reservation" and content.strip() == "1":
            results.append("meta tdm-reservation")
        elif name in ("robots", "x-robots-tag"):
            results += [f"meta {directive}" for directive in _no_ai(content)]
        elif name in PREFERENCES:
            results += [f"meta {preference}" for preference in preferences(name, content)]
        elif _NAME.fullmatch(name) and _CRAWLER.search(name):
            results += [f"meta {directive}" for directive in _no_ai(content, name)]
    for element in tree.iter("link", "script"):
        is_terms = element.tag == "script" or "license" in (element.get("rel") or "").lower().split()
        if is_terms and (element.get("type") or "").strip().lower() == _RSL_TYPE:
            results.append(f"{element.tag} {RSL}")
    return list(dict.fromkeys(results))


def _no_ai(value: str, crawler: str = "*") -> Iterator[str]:
    """Yield the directives against AI, each once, such as "noai" and "noai for gptbot". Headers of one name are joined
    by commas: one without a crawler's name then follows the name of another. `crawler` is the one that the directives
    are for where they name none, lower-case; `*` = all."""
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
