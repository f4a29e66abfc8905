"""The lines of a robots.txt that concern one crawler: groups, rules and delays.

After RFC 9309, and where that is silent as Google's open parser (google/robotstxt) reads what people write: a version
or words after a name, a missing colon, misspelt names of lines, byte order marks. Crawl-delay and Request-rate are of
no standard; we obey them.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# A line's name may go on, "User-agents:". Without a colon the rest must be one word, else prose would be rules.
_LINE = re.compile(
    r"(user[- ]?agent|dis+al+[oa]w|diasllow|allow|crawl[- ]?delay|request[- ]?rate)(?:[^:/*]*:(.*)|\s+(\S+))",
    re.IGNORECASE,
)
_KINDS = {"u": "agent", "d": "disallow", "a": "allow", "c": "delay", "r": "rate"}  # by a name's first letter
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
    """What a robots.txt says to one crawler.

    Attributes:
        rules: whether each rule allows, and its pattern, in order.
        delay: seconds between requests by Crawl-delay or Request-rate, the longest; 0 without these.
    """

    rules: list[tuple[bool, str]] = field(default_factory=list)
    delay: float = 0.0


def decoded(body: bytes) -> str:
    """Return the text of a robots.txt, UTF-8 or UTF-16; bytes that are neither are kept (`surrogateescape`).

    NUL bytes are left out, so that UTF-16 and UTF-32 without a mark are read too. A file that begins like HTML loses
    its tags and the signs of its comments: a page builder may put them around the lines.
    """
    codec = _WIDE.get(body[:2])
    text = body.decode("utf-8", "surrogateescape") if codec is None else body[2:].decode(codec, "replace")
    text = text.replace("\x00", "").lstrip(_MARKS)
    return _MARKUP.sub("\n", text) if text.lstrip().startswith("<") else text


def group_for(agent: str, text: str) -> Group:
    """Return what a robots.txt says to a crawler: the groups that name it, or else those for everyone.

    A group is its User-agent lines and the rules after them, up to the next User-agent line after a rule. Any other
    line may stand between (RFC 9309, 2.2.4); a delay there is for the names above it, since many files have a group of
    nothing else.

    Args:
        agent: product token, letters, `_` and `-`.
        text: the file's text.
    """
    own, everyones = Group(), Group()
    named = is_own = is_everyones = ruled = False
    for kind, value in _lines(text):
        if kind == "agent":
            if ruled:
                is_own = is_everyones = ruled = False
            if _EVERYONE.match(value):
                is_everyones = True
            elif _names(value, agent):
                named = is_own = True
            continue
        group = own if is_own else everyones if is_everyones else None
        if kind in ("allow", "disallow"):
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
            yield _KINDS[match[1][0].lower()], (match[2] or match[3] or "").strip()


def _names(value: str, agent: str) -> bool:
    """Tell whether a User-agent line names a crawler: by its whole token, in any case, whatever follows it."""
    token = _TOKEN.match(value)
    return token is not None and token[0].lower() == agent.lower()


def _rules(allows: bool, pattern: str) -> Iterator[tuple[bool, str]]:
    yield allows, pattern
    folder, slash, name = pattern.rpartition("/")
    if allows and slash and name.startswith("index.htm"):  # then the folder is allowed, as in Google's parser
        yield True, f"{folder}/$"


def _seconds(kind: str, value: str) -> float:
    if kind == "delay":
        number = _SECONDS.match(value)
        seconds = float(number[0]) if number else 0.0
        return seconds if math.isfinite(seconds) else 0.0
    rate = _RATE.match(value)
    return int(rate[2]) * _UNITS[rate[3].lower()] / int(rate[1]) if rate and int(rate[1]) else 0.0
