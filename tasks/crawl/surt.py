"""The sort key of a URL in the indexes of web archives: SURT, "sort-friendly URI reordering transform".

Archives file a capture under this key, and look a URL up by it, so that spellings of one address meet: scheme, `www.`,
letter case, a last slash, the order of the query's fields and session numbers do not count. The rules are those with
which Common Crawl makes its indexes (the Internet Archive's canonical form); the host is written backwards, so that
all captures of a domain stand together: `com,example)/path?a=1`."""

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

_UNESCAPED = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_WWW = re.compile(r"www\d*\.")
_SLASHES_OR_DOTS = re.compile(r"//|/\.")
# Session numbers as servers of the 2000s write them: ASP.NET in the path, the others in the query.
_IN_PATH = (
    re.compile(r"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/((?:(?!(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/)[^?])+\.aspx.*)"),
    re.compile(r"(.*/)\([0-9a-z]{24}\)/((?:(?!(?<=/)\([0-9a-z]{24}\)/)[^?])+\.aspx.*)"),
)
_IN_QUERY = tuple(
    re.compile(rf"(.*){field}(?:&(.*))?", re.IGNORECASE)
    for field in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=(?:(?!cfid=)[^&])+&cftoken=[^&]+",
    )
)


def surt_key(url: str) -> str:
    """Return the key of a URL in normal form, as Common Crawl's `url_surtkey`; keys compare by code point."""
    _, _, rest = url.partition("://")
    address, question, query = rest.partition("?")
    host, slash, path = address.partition("/")
    path = _path(slash + path)
    if question:
        query = _query(query)
    return f"{_host(host)}){path}?{query}" if query else f"{_host(host)}){path}"


def _host(host: str) -> str:
    """Return the labels backwards; the port, which in a normal form is not the scheme's own, stays at the end."""
    name, colon, port = host.partition(":")
    name = _WWW.sub("", name, count=1) if name.startswith("www") else name
    return f"{','.join(name.split('.')[::-1])}{colon}{port}"


def _path(path: str) -> str:
    if "%" in path:
        path = _escaped(_unescaped(path))
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
        query = _escaped(_unescaped(query))
    if "id=" in query.lower() or "sessionid" in query.lower():
        for pattern in _IN_QUERY:
            if match := pattern.fullmatch(query):
                query = match[1] + (match[2] or "")
    query = query.lower()
    return "&".join(sorted(query.split("&"), key=lambda field: field.split("=", 1))) if "&" in query else query


def _unescaped(text: str) -> bytes:
    """Return the bytes behind percent escapes, and behind escapes of escapes."""
    before = text.encode()
    while (after := unquote_to_bytes(before)) != before:
        before = after
    return after


def _escaped(raw: bytes) -> str:
    return quote_from_bytes(raw, safe=_UNESCAPED)
