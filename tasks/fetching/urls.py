"""URLs: their normal form, why some are refused, whose servers they are, and their keys in the indexes of archives. The
parser is urllib3's, as that of the HTTP client."""

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from urllib.parse import quote_from_bytes, unquote_to_bytes, urljoin, urlsplit

import idna
import tld
from requests.exceptions import InvalidURL
from requests.utils import requote_uri
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from tasks.engine.data_files import read_data
from tasks.engine.hashing import stable_hash
from tasks.fetching.reasons import FrontierReason

MAX_URL_CHARACTERS = 4096
DEFAULT_PORTS = {"http": 80, "https": 443}

_SITES = read_data("tasks.fetching", "sites.toml")
_OTHER_SERVICES = frozenset(_SITES["other_services"])
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_IPV6 = re.compile(r"\[[0-9a-f:.]+\]")
# As urllib3 finds it, which parses the result.
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([^\\/?#]*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class BadUrlError(ValueError):
    """A URL that is not fetched."""

    def __init__(self, reason: str, url: str) -> None:
        super().__init__(f"{reason}: {url[:200]!r}; expected an absolute http or https URL")
        self.reason = reason  # reason for the tables: bad_url | bad_scheme | bad_port


def normalise_url(url: str, *, allowed_hosts: Iterable[str] = ()) -> str:
    """Return the normal form of an absolute URL.

    Scheme and host are lower-case. The host has its IDNA form, mapped as browsers do (UTS 46), without a final dot.
    Default port, fragment and credentials are removed, and dot segments resolved. Percent-encoding is upper-case and
    used only where necessary. A URL that begins with `//` counts as https. Normalising twice changes nothing. Hosts
    that match a pattern of `allowed_hosts` may have any port. Raises BadUrlError: it cannot be fetched."""
    text = re.sub(r"[\t\r\n]", "", url.strip())
    if not text or len(text) > MAX_URL_CHARACTERS or _CONTROL.search(text):
        raise BadUrlError(FrontierReason.BAD_URL, url)
    if text.startswith("//"):
        text = f"https:{text}"
    scheme = _SCHEME.match(text)
    if scheme is None:
        raise BadUrlError(FrontierReason.BAD_URL, url)
    if scheme.group(1).lower() not in DEFAULT_PORTS:
        raise BadUrlError(FrontierReason.BAD_SCHEME, url)
    try:
        # Twice, because undoing unnecessary escapes can reveal dot segments, and resolving those can leave escapes.
        normal = requote_uri(_parsed(requote_uri(_parsed(_in_ascii(text), url)), url))
    except (LocationParseError, InvalidURL, UnicodeError) as error:
        raise BadUrlError(FrontierReason.BAD_URL, url) from error
    port = urlsplit(normal).port
    of_the_web = port is None or port in DEFAULT_PORTS.values() or (port >= 1024 and port not in _OTHER_SERVICES)
    if not of_the_web and not host_matches(host_of(normal), allowed_hosts):
        raise BadUrlError(FrontierReason.BAD_PORT, url)
    return normal


def _in_ascii(url: str) -> str:
    """Return a URL with its host as browsers ask for it (UTS 46), in ASCII. Raises BadUrlError, or idna.IDNAError."""
    authority = _AUTHORITY.match(url)
    if authority is None:
        return url
    host, colon, port = authority[1].rpartition("@")[2].partition(":")
    if host.isascii():
        return url
    # Label by label, since IDNA 2008 alone refuses names that browsers reach, such as those with symbols.
    labels = idna.uts46_remap(host, std3_rules=False, transitional=False).removesuffix(".").split(".")
    name = ".".join(label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels)
    if not _HOST.fullmatch(name):  # a character may stand for two, of which one would end the host
        raise BadUrlError(FrontierReason.BAD_URL, url)
    return f"{url[: authority.end() - len(host + colon + port)]}{name}{colon}{port}{url[authority.end() :]}"


def _parsed(text: str, url: str) -> str:
    parts = parse_url(text)
    host = (parts.host or "").lower().removesuffix(".")
    if parts.scheme is None or len(host) > 253 or not (_HOST.fullmatch(host) or _IPV6.fullmatch(host)):
        raise BadUrlError(FrontierReason.BAD_URL, url)
    if any(len(label) > 63 for label in host.split(".")) or parts.port == 0:
        raise BadUrlError(FrontierReason.BAD_URL, url)
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{host}{port}{parts.path or '/'}{query}"


def join_url(base: str, reference: str, *, allowed_hosts: Iterable[str] = ()) -> str:
    """Return the normal form of a reference found at the normal URL `base`, or raise BadUrlError."""
    try:
        joined = urljoin(base, reference.strip())
    except ValueError as error:
        raise BadUrlError(FrontierReason.BAD_URL, reference) from error
    return normalise_url(joined, allowed_hosts=allowed_hosts)


def host_of(url: str) -> str:
    """Return the host[:port] of a URL in normal form."""
    return urlsplit(url).netloc


def origin_of(url: str) -> str:
    """Return the scheme://host[:port] of a URL in normal form: the scope of one robots.txt."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _without_port(host: str) -> str:
    return host.rpartition(":")[0] if re.search(r":\d+$", host) and not host.endswith("]") else host


def host_matches(host: str, patterns: Iterable[str]) -> bool:
    """Tell whether a host or host:port matches one of the patterns (`*.example.org`, `127.0.0.1:80??`)."""
    name = _without_port(host)
    bare = name.strip("[]")
    return any(fnmatchcase(form, pattern) for pattern in patterns for form in {host, name, bare})


def under_domain(url: str, domains: Iterable[str]) -> bool:
    """Tell whether the host of a URL in normal form is one of the domains or a subdomain."""
    host = urlsplit(url).hostname or ""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def archived_url(url: str) -> str | None:
    """Return the URL of which a Wayback Machine address is a capture, or None for another address."""
    match = re.match(r"https?://web\.archive\.org/web/[^/]+/(.+)", url)
    if match is None:
        return None
    try:
        inner = match.group(1)
        return normalise_url(inner if _SCHEME.match(inner) else f"http://{inner}")
    except BadUrlError:
        return None


@lru_cache(maxsize=100_000)
def registered_domain(host: str) -> str:
    """Return the domain that somebody registered for a host, such as `example.co.uk` for `www.example.co.uk:8080`.

    The public suffixes are those of registries, from the list that `tld` contains. The list's private part (platforms
    whose users have names below theirs, such as `github.io`) does not count: one operator serves them all. An address,
    and a name that no registry knows (`localhost`, `a.test`), is its own domain. `host`: host[:port] of a URL in normal
    form."""
    result = tld.get_fld(f"http://{host}/", fail_silently=True, search_private=False)
    return result or _without_port(host).strip("[]")


def within_budget(
    urls: Iterable[tuple[int, str]], fetched_at: Callable[[str], float], most: int
) -> Iterator[tuple[int, str]]:
    """Yield at most `most` URLs of each registered domain, in their order. Those fetched longest ago, or never, are
    chosen first, and among these by a hash: the same ones each time, from all parts of a site. `urls`: place and URL in
    normal form, by place; `fetched_at`: seconds since 1970, 0 for never."""
    chosen: defaultdict[str, list[tuple[float, int, int, str]]] = defaultdict(list)  # heaps, the last one to take first
    for place, url in urls:
        heap = chosen[registered_domain(host_of(url))]
        entry = (-fetched_at(url), -stable_hash("domain budget", url), place, url)
        if len(heap) < most:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
    yield from sorted((place, url) for heap in chosen.values() for _, _, place, url in heap)


_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_WWW = re.compile(r"www\d*\.")
_SLASHES_OR_DOTS = re.compile(r"//|/\.")
_SESSIONS = _SITES["sessions"]
_IN_PATH = [re.compile(rf"(.*/){part}/((?:(?!(?<=/){part}/)[^?])+\.aspx.*)") for part in _SESSIONS["in_path"]]
_IN_QUERY = [re.compile(rf"(.*){field}(?:&(.*))?", re.IGNORECASE) for field in _SESSIONS["in_query"]]


def surt_key(url: str) -> str:
    """Return the key of a URL in normal form, as Common Crawl's `url_surtkey`; keys compare by code point."""
    _, _, rest = url.partition("://")
    address, question, query = rest.partition("?")
    host, slash, path = address.partition("/")
    path = _path(slash + path)
    if question:
        query = _query(query)
    name, colon, port = host.partition(":")  # a port, which in a normal form is not the scheme's own, stays at the end
    name = _WWW.sub("", name, count=1) if name.startswith("www") else name
    return f"{','.join(name.split('.')[::-1])}{colon}{port}){path}{f'?{query}' if query else ''}"


def _path(path: str) -> str:
    if "%" in path:
        path = _escaped_once(path)
    if _SLASHES_OR_DOTS.search(path):
        path = _resolved(path)
    path = path.lower()
    if "(" in path:
        for pattern in _IN_PATH:
            if match := pattern.fullmatch(path):
                path = match[1] + match[2]
    return (path.removesuffix("/") if len(path) > 1 else path) or "/"


def _resolved(path: str) -> str:
    """Return a path without empty and dot segments; unescaping may reveal some."""
    kept: list[str] = []
    last = "."
    for last in path.split("/")[1:]:
        if last == ".." and kept:
            kept.pop()
        elif last != ".":
            kept.append(last)
    return "/" + "/".join([part for part in kept[:-1] if part] + kept[-1:])


def _query(query: str) -> str:
    if "%" in query:
        query = _escaped_once(query)
    if "id=" in query.lower() or "sessionid" in query.lower():
        for pattern in _IN_QUERY:
            if match := pattern.fullmatch(query):
                query = match[1] + (match[2] or "")
    query = query.lower()
    return "&".join(sorted(query.split("&"), key=lambda field: field.split("=", 1))) if "&" in query else query


def _escaped_once(text: str) -> str:
    """Return a text without escapes of escapes, and only with those that are needed."""
    before = text.encode()
    while (after := unquote_to_bytes(before)) != before:
        before = after
    return quote_from_bytes(after, safe=_UNESCAPED)
