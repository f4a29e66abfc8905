"""robots.txt, after RFC 9309: what an origin allows, even if its file is missing, broken, huge or not a robots.txt.

A hostile robots.txt can be expensive: half a megabyte of wildcards takes a second to parse, 33 MB of memory and a
quarter of a second per URL. So only the rules for us are kept, as compressed text, and are parsed for a number of URLs
at once. A file with too many rules to apply in bounded time forbids its origin.

If the standard does not say how to read something, this reads it like Google's open parser (google/robotstxt): a
version or words after a name, a missing colon, misspelt names of lines, byte order marks. Crawl-delay and Request-rate
belong to no standard; we obey them.

In a pattern of paths, here and in tdmrep.json, `*` is any text and a `$` at the end is the end. Patterns and URLs come
from strangers, so matching is a search for each piece after the one before it, without backtracking: where a piece
occurs first, the rest has the most room."""

import logging
import math
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeGuard
from urllib.parse import quote, urlsplit

from tasks.fetching.content import SNIFF_BYTES, is_binary
from tasks.fetching.http import Response
from tasks.fetching.reasons import HOST_FAULTS, PageReason
from tasks.fetching.safety import FetchError
from tasks.rights.licences import licence_of_url
from tasks.rights.reservations import PREFERENCES, ROBOTS_TXT, RSL, preferences

# What `requests` leaves as it is in a URL; quote leaves letters, digits and _.-~ by itself.
_LEFT = "!#$%&'()*+,/:;=?@[]"
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
_CUT_ESCAPE = re.compile(r"%[0-9A-Fa-f]?\Z")
# Written by their escape they are those characters and no signs (RFC 9309, 2.2.3), as unreserved ones are (2.2.2).
_UNESCAPED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~*$")


def comparable(text: str) -> str:
    """Return a part of a path as paths are compared; bytes that were not UTF-8 (`surrogateescape`) are escaped."""
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


def _piece(written: str) -> str:
    """Return a piece of a pattern that any text may follow: an escape that is cut there is any escape (`/*%`)."""
    cut = _CUT_ESCAPE.search(written)
    return comparable(written) if cut is None else comparable(written[: cut.start()]) + cut[0].upper()


class PathPattern:
    """One pattern."""

    def __init__(self, written: str) -> None:
        self._ends = written.endswith("$")
        pieces = written.removesuffix("$").split("*")
        whole = len(pieces) - self._ends  # a piece that the end follows has no text after it
        pieces = [_piece(piece) if index < whole else comparable(piece) for index, piece in enumerate(pieces)]
        # its length: the longer of two patterns is the more specific one (RFC 9309, 2.2.2)
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


# A line's name may be longer, "User-agents:". Without a colon the rest must be one word, else prose would be rules.
_LINE = re.compile(
    r"(user[- ]?agent|dis+al+[oa]w|diasllow|allow|crawl[- ]?delay|request[- ]?rate|content-signal|content-usage"
    r"|license)(?:[^:/*]*:(.*)|\s+(\S+))",
    re.IGNORECASE,
)
_KINDS = {"u": "agent", "d": "disallow", "a": "allow", "cr": "delay", "r": "rate", "l": "licence"}  # by first letters
_EVERYONE = re.compile(r"\*(\s|$)")
_TOKEN = re.compile(r"[A-Za-z_-]*")
_SECONDS = re.compile(r"\d{0,9}\.?\d{1,9}(e\d{1,3})?", re.IGNORECASE)
_RATE = re.compile(r"(\d{1,9})\s*/\s*(\d{1,9})\s*([smhd]?)", re.IGNORECASE)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}  # seconds
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
# Marks of any encoding whose NUL bytes were left out, and torn ones.
_MARKS = "\ufeff\udcef\udcbb\udcbf\udcff\udcfe"
_MARKUP = re.compile(r"<!--|-->|<[^<>]*>")


@dataclass
class Group:
    """The rules of a robots.txt for one crawler."""

    rules: list[tuple[bool, str]] = field(default_factory=list)  # whether each rule allows, and its pattern, in order
    delay: float = 0.0  # seconds between requests by Crawl-delay or Request-rate, the longest; 0 without these
    # refused uses of texts: the pattern of a path, "" = of all, and the refused use there, "" = none
    uses: list[tuple[str, str]] = field(default_factory=list)


def decoded(body: bytes) -> str:
    """Return the text of a robots.txt, UTF-8 or UTF-16; bytes that are neither are kept (`surrogateescape`). NUL bytes
    are left out, so that UTF-16 and UTF-32 without a mark are read too. A file that begins like HTML loses its tags and
    the signs of its comments: a page builder may put them around the lines."""
    codec = _WIDE.get(body[:2])
    text = body.decode("utf-8", "surrogateescape") if codec is None else body[2:].decode(codec, "replace")
    text = text.replace("\x00", "").lstrip(_MARKS)
    return _MARKUP.sub("\n", text) if text.lstrip().startswith("<") else text


def group_for(agent: str, text: str) -> Group:
    """Return the rules of a robots.txt for a crawler: the groups that name it, or else those for everyone. A group is
    its User-agent lines and the rules after them, up to the next User-agent line after a rule. Any other line may come
    between (RFC 9309, 2.2.4); a delay there is for the names above it, because many files have groups with only a
    delay. `agent`: product token, letters, `_` and `-`."""
    own, everyones = Group(), Group()
    named = is_own = is_everyones = ruled = begun = False
    for kind, value in _lines(text):
        if kind == "agent":
            begun = True
            if ruled:
                is_own = is_everyones = ruled = False
            if _EVERYONE.match(value):
                is_everyones = True
            elif (token := _TOKEN.match(value)) and token[0].lower() == agent.lower():  # whatever follows it
                named = is_own = True
            continue
        if kind == "licence":  # of all crawlers, at any place in the file (RSL 1.0); an open licence reserves nothing
            if "://" in value and licence_of_url(value) is None and ("", RSL) not in own.uses:
                own.uses.append(("", RSL))
                everyones.uses.append(("", RSL))
            continue
        group = own if is_own else everyones if is_everyones else None
        if kind in PREFERENCES:
            if (group := group if begun else everyones) is not None:  # above all names it is for everyone
                group.uses += _uses(kind, value)
        elif kind in ("allow", "disallow"):
            ruled = True
            if group is not None and value:
                group.rules += _rules(kind == "allow", value)
        elif group is not None:
            group.delay = max(group.delay, _seconds(kind, value))
    return own if named else everyones


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield kind and value of each line that has a meaning here."""
    for line in re.split(r"[\r\n]", text):
        match = _LINE.fullmatch(line.partition("#")[0].strip())
        if match is not None:
            name = match[1].lower()
            kind = name if name in PREFERENCES else _KINDS.get(name[0]) or _KINDS[name[:2]]
            yield kind, (match[2] or match[3] or "").strip()


def _rules(allows: bool, pattern: str) -> Iterator[tuple[bool, str]]:
    yield allows, pattern
    folder, slash, name = pattern.rpartition("/")
    if allows and slash and name.startswith("index.htm"):  # then the folder is allowed, as in Google's parser
        yield True, f"{folder}/$"


def _uses(kind: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield what a line refuses; Content-Usage may be of a path (draft-ietf-aipref-attach)."""
    path, _, rest = value.partition(" ") if value.startswith("/") else ("/", "", value)
    refused = preferences(kind, rest)
    if kind == "content-signal":
        yield from (("", each) for each in refused)
    else:
        yield path, ", ".join(refused)


def _seconds(kind: str, value: str) -> float:
    if kind == "delay":
        number = _SECONDS.match(value)
        seconds = float(number[0]) if number else 0.0
        return seconds if math.isfinite(seconds) else 0.0
    rate = _RATE.match(value)
    return int(rate[2]) * _UNITS[rate[3].lower()] / int(rate[1]) if rate and int(rate[1]) else 0.0


logger = logging.getLogger(__name__)

ROBOTS_PATH = "/robots.txt"
# RFC 9309, 2.5: at least 500 KiB must be read. The rest of a longer file is ignored.
ROBOTS_BYTES = 512 * 1024
# Limits of the rules for us. Matching a wildcard searches the whole URL, which takes 5 us for the longest: a thousand
# such rules cost 5 ms per URL. Large sites have hundreds.
MAX_RULES = 10_000
MAX_WILDCARD_RULES = 1_000
MAX_WILDCARDS = 10_000
_MOST_USES = 50  # lines on what may be done with texts, and stars in them; of more, each is of every path
_ENTRY_BYTES = 500  # of an entry without any rules

_ALLOW, _DISALLOW = "+", "-"  # before the patterns that are kept


@dataclass(frozen=True)
class Robots:
    """What robots.txt says about one origin."""

    refusal: str | None  # reason for refusing every URL of the origin, or None
    rules: bytes = b""  # compressed text of the rules for us; empty if everything is allowed
    delay: float = 0.0  # seconds between requests by Crawl-delay or Request-rate; 0 without these
    uses: tuple[tuple[str, str], ...] = ()  # refused uses of texts, as in `Group`

    @property
    def bytes(self) -> int:
        """Memory that it takes, about."""
        return _ENTRY_BYTES + len(self.rules) + sum(len(path) + len(refused) for path, refused in self.uses)

    def reserves(self) -> Callable[[str], list[str]]:
        """Return a function that returns the entries of `rights_headers` for a URL: the refused uses of its text. Of
        several paths of Content-Usage the longest that matches counts."""
        everywhere = [refused for path, refused in self.uses if not path]
        of_paths = [(PathPattern(path), refused) for path, refused in self.uses if path]

        def entries(url: str) -> list[str]:
            path = path_of(url)
            matching = [(pattern.octets, refused) for pattern, refused in of_paths if pattern.matches(path)]
            longest = max(matching, default=(0, ""))[0]
            of_path = [refused for octets, refused in matching if octets == longest and refused]
            result = ", ".join(dict.fromkeys([*everywhere, *of_path]))
            return [ROBOTS_TXT + result] if result else []

        return entries

    def judge(self) -> Callable[[str], str | None]:
        """Parse the rules; return a function that returns why a URL must not be fetched, or None if it may be."""
        if self.refusal is not None or not self.rules:
            return lambda _url: self.refusal
        written = zlib.decompress(self.rules).decode("utf-8", "surrogateescape").split("\n")
        rules = PathRules((line[0] == _ALLOW, line[1:]) for line in written)

        def reason(url: str) -> str | None:
            path = path_of(url)
            # The file itself is always allowed (RFC 9309, 2.2.2).
            return None if path == ROBOTS_PATH or rules.allows(path) else PageReason.ROBOTS_DISALLOWED

        return reason


def judge_robots(answer: Response | FetchError, user_agent: str) -> Robots:
    """Return the rules that follow from the answer to a request for robots.txt. A success is parsed, whatever its type.
    If the answer is 4xx, or redirects lead nowhere, the site has no such file, and everything is allowed. The origin is
    forbidden by 429, 5xx, a file that does not arrive or is not text, and one with too many rules (RFC 9309, 2.3.1).
    `user_agent`: product token, or with version."""
    if isinstance(answer, FetchError) and answer.reason in HOST_FAULTS:
        return Robots(answer.reason)
    if not has_arrived(answer):
        return Robots(PageReason.ROBOTS_UNREACHABLE)
    if not answer.success:
        return Robots(None)
    return read_rules(answer.body, user_agent, answer.url)


def has_arrived(answer: Response | FetchError) -> TypeGuard[Response]:
    """Return whether an answer says what a site's file holds, or that the site does not have the file. Bytes that are
    not text say neither: compressed rules whose header does not name the compression, for example."""
    if isinstance(answer, FetchError) or answer.status == 429 or answer.status >= 500:
        return False
    head = answer.body[:SNIFF_BYTES].replace(b"\0", b"") if answer.success else b""
    return not (answer.success and answer.fault is not None) and not is_binary(head, None)


def read_rules(body: bytes, user_agent: str, name: str = "a robots.txt") -> Robots:
    """Read a robots.txt, at most its first `ROBOTS_BYTES`; warnings call it by its name."""
    text = decoded(body[:ROBOTS_BYTES])
    if len(body) >= ROBOTS_BYTES:
        # Without the last line: a truncated rule could forbid too much.
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    group = group_for(user_agent.partition("/")[0], text)
    wildcards = [pattern.count("*") for _, pattern in group.rules if "*" in pattern]
    result, most = (len(group.rules), len(wildcards), sum(wildcards)), (MAX_RULES, MAX_WILDCARD_RULES, MAX_WILDCARDS)
    if any(number > limit for number, limit in zip(result, most, strict=True)):
        message = "%s has %d rules for us, %d of them with %d wildcards: expected at most %d, %d and %d; it is refused"
        logger.warning(message, name, *result, *most)
        return Robots(PageReason.ROBOTS_TOO_COMPLEX)
    uses = tuple(group.uses)
    if len(uses) > _MOST_USES or sum(path.count("*") for path, _ in uses) > _MOST_USES:
        uses = tuple(("", refused) for refused in sorted({refused for _, refused in uses if refused})[:_MOST_USES])
    lines = "\n".join(f"{_ALLOW if allows else _DISALLOW}{pattern}" for allows, pattern in group.rules)
    return Robots(None, zlib.compress(lines.encode("utf-8", "surrogateescape")) if lines else b"", group.delay, uses)
