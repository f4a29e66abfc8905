"""Repair punctuation where something was removed: pronunciation in brackets, empty brackets, stray commas."""

import re

from tasks.sources.dump.templates import GONE

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
# Between slashes or square brackets, with at least one letter that only phonetic script has.
_SOUND = "[ˈˌːəɪʊɛɔæʃʒθðŋɑɒʌɡɹɾʁɐɨɯɲ]"
_PHONETIC = re.compile(rf"(?<!\w)/[^/\n]{{0,60}}{_SOUND}[^/\n]{{0,60}}/|\[[^\[\]\n]{{0,60}}{_SOUND}[^\[\]\n]{{0,60}}\]")
_SAYS = r"(?:pronounced|pronunciation|pron\.|IPA|locally|listen|audio|help|info|phonetically|respelling|approximately)"
_SPOKEN = re.compile(rf"\b{_SAYS}\b", re.I)
# What remains of a part of a bracket without its template: "UK:", "also", "years ago".
_LABEL = re.compile(r"[^:,;]{0,60}:\s*")
_BARE_LABEL = re.compile(
    r"(?:\s|:|[$£€¥₹]|\b(?:or|and|also|sometimes|occasionally|rarely|often|usually|commonly|now|named|age|aged|years|ago|in"
    r"|from|equivalent|to|about|approximately|roughly|today|adjusted|for|inflation|US)\b)*"
)
_BRACKET = re.compile(r"\(([^()]*)\)")
_EMPTY_BRACKET = re.compile(r" ?(?:\([ ;,:.–—-]*\)|\[ ?\])")
_OUTSIDE = re.compile(
    rf",? ?\(?\b{_SAYS}\b[ :]{{0,3}}(?:{_SAYS}\b[ :]{{0,3}})?(?:as )?{GONE}(?: ?(?:or|and|,)? ?{GONE}){{0,3}} ?,?",
    re.IGNORECASE,
)


def mend(text: str) -> str:
    """Return a line of prose, single-spaced, without the `GONE` marks and the punctuation that belonged to them.
    Pronunciation and signs without width are removed too."""
    text = _PHONETIC.sub(GONE, _INVISIBLE.sub("", text))
    if "(" in text:
        for _ in range(4):  # brackets within brackets, from the inside
            text, changes = _BRACKET.subn(_mended_bracket, text)
            if not changes:
                break
        text = text.replace(_OPEN, "(").replace(_CLOSE, ")")
    text = _OUTSIDE.sub("", text)
    text = re.sub(rf"(?<![ {GONE}])[ {GONE}]*{GONE}[ {GONE}]*(?=([.,;:!?)\]]|$)?)", _gap, text)
    text = _EMPTY_BRACKET.sub("", text)
    text = re.sub(r" ([,)](?!\d)|\.(?![\d.]))", r"\1", text.replace("( ", "("))
    return re.sub(r",(?: ?,)+", ",", text).strip()


_OPEN, _CLOSE = "\ue002", "\ue003"  # brackets that are already repaired


def _gap(match: re.Match[str]) -> str:
    """Return the space to leave for a gap between words."""
    opened = match.start() == 0 or match.string[match.start() - 1] in "(["
    return "" if opened or match[1] is not None or " " not in match[0] else " "


def _mended_bracket(match: re.Match[str]) -> str:
    inner = match[1]
    if GONE in inner:
        parts = [",".join(_kept(part.split(","))) for part in inner.split(";")]
        inner = ";".join(part for part in parts if part.strip(" \t,")).strip(" \t,;")
    inner = re.sub(r"^[ \t]*[;,:]|[;,][ \t]*$", "", inner).strip()
    if not re.sub(r"[\s;,:.–—-]", "", inner):
        return GONE
    return f"{_OPEN}{inner}{_CLOSE}"


def _kept(parts: list[str]) -> list[str]:
    """Return the parts of a bracket that still have content."""
    kept = []
    for part in parts:
        if GONE not in part:
            kept.append(part)
            continue
        rest = re.sub(rf"(?:(?<![ \t])[ \t]+)?{GONE}[ \t]*", " ", part)
        if not (_SPOKEN.search(rest) or _LABEL.fullmatch(rest) or _BARE_LABEL.fullmatch(rest)):
            kept.append(rest.rstrip() if rest.startswith((" ", "\t")) else rest.strip())
    return kept
