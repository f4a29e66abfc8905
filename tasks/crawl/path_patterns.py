"""Patterns of URL paths as robots.txt and tdmrep.json write them: `*` is any text, a `$` at the end is the end.
Patterns and URLs come from strangers, so matching is a search for each piece after the one before it, without
backtracking: where a piece occurs first, the rest has the most room."""

import re
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

# What `requests` leaves as it is in a URL; quote leaves letters, digits and _.-~ by itself.
_LEFT = "!#$%&'()*+,/:;=?@[]"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
# Written by their escape they are those characters and no signs (RFC 9309, 2.2.3), as unreserved ones are (2.2.2).
_UNESCAPED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~*$")


def comparable(text: str) -> str:
    """Return a part of a path as paths are compared; bytes that were no UTF-8 (`surrogateescape`) are escaped."""
    return _ESCAPE.sub(_settled, quote(text, safe=_LEFT, errors="surrogateescape"))


def _settled(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return "%25"
    character = chr(int(escape[1], 16))
    return character if character in _UNESCAPED else escape[0].upper()


def path_of(url: str) -> str:
    """Return path and query of a URL in the spelling in which patterns are compared with them."""
    parts = urlsplit(url)
    return comparable(f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}")


class PathPattern:
    """One pattern."""

    def __init__(self, written: str) -> None:
        self._ends = written.endswith("$")
        pieces = [comparable(piece) for piece in written.removesuffix("$").split("*")]
        # its length, by which the more specific of two patterns is known (RFC 9309, 2.2.2)
        self.octets = sum(map(len, pieces)) + len(pieces) - 1 + self._ends
        self._first, *self._others = pieces
        self._last = self._others.pop() if self._ends and self._others else None
        # the text that a path must begin with, where that is all it says; else None
        self.plain = None if self._ends or self._others else self._first

    def matches(self, path: str) -> bool:
        """Tell whether it matches a path (`path_of`)."""
        if self._ends and self._last is None:
            return path == self._first
        if not path.startswith(self._first):
            return False
        position = len(self._first)
        for piece in self._others:
            position = path.find(piece, position)
            if position < 0:
                return False
            position += len(piece)
        return self._last is None or path.endswith(self._last, position)


class PathRules:
    """Rules of which the longest that matches a path decides, and the one that allows among equals."""

    def __init__(self, rules: Iterable[tuple[bool, str]]) -> None:
        """Read the rules: whether each allows, and its pattern."""
        self._plain: dict[str, bool] = {}
        special: list[tuple[int, bool, PathPattern]] = []
        for allows, written in rules:
            pattern = PathPattern(written)
            if pattern.plain is None:
                special.append((pattern.octets, allows, pattern))
            else:
                self._plain[pattern.plain] = allows or self._plain.get(pattern.plain, False)
        self._lengths = sorted({len(start) for start in self._plain}, reverse=True)
        self._special = sorted(special, key=lambda rule: rule[:2], reverse=True)

    def allows(self, path: str) -> bool:
        """Tell whether a path (`path_of`) is allowed."""
        starts = (path[:length] for length in self._lengths if length <= len(path))
        best = next(((len(start), self._plain[start]) for start in starts if start in self._plain), (0, True))
        for octets, allows, pattern in self._special:
            if (octets, allows) <= best:
                break
            if pattern.matches(path):
                return allows
        return best[1]
