"""Split wikitext before it is parsed: comments, references, templates, sections. All functions take time proportional
to the text, however broken it is: the end of something never closed is searched only once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"^=.*=[ \t]*$", re.M)
_REF = re.compile(r"<ref(\s[^<>]*)?>", re.I)
_REF_END = re.compile(r"</ref\s*>", re.I)
_BRACES = re.compile(r"\{\{|\}\}")
_PAIRS = re.compile(r"\{\{|\}\}|\[\[|\]\]")
_LONE_ANGLE = re.compile(r"<(?=[A-Za-z/!])(?![^<>]*>)")
_VERBATIM = re.compile(r"<(nowiki|pre|syntaxhighlight|source)(?:\s[^<>]*)?(?<!/)>", re.I)


@dataclass(frozen=True)
class WikitextSection:
    """A section without its subsections."""

    path: tuple[str, ...]  # the headings above it and its own, as written; empty for the lead
    text: str  # its source


@dataclass(frozen=True)
class RefElement:
    """A `<ref>` element."""

    start: int  # index of its first character
    end: int  # index after its last character
    name: str | None
    body: str | None  # its content; None if it only names another


def without_comments(text: str) -> str:
    """Return wikitext without comments; an unclosed one extends to the end. Markup in verbatim elements is escaped."""
    parts, position = [], 0
    while (start := text.find("<!--", position)) >= 0:
        parts.append(text[position:start])
        end = text.find("-->", start + 4)
        if end < 0:
            position = len(text)
            break
        position = end + 3
        if _alone_on_its_line(text, start, position):
            position += 1  # also remove the line break, so that no empty line is left
    return _without_verbatim("".join([*parts, text[position:]]))


def _alone_on_its_line(text: str, start: int, end: int) -> bool:
    return (start == 0 or text[start - 1] == "\n") and text[end : end + 1] == "\n"


def _without_verbatim(text: str) -> str:
    """Return wikitext with the content of nowiki and similar elements as entities, so that it is not markup."""
    parts, position = [], 0
    while match := _VERBATIM.search(text, position):
        closing = re.compile(rf"</{match[1]}\s*>", re.I).search(text, match.end())
        if closing is None:
            break
        inner = text[match.end() : closing.start()]
        parts += [text[position : match.start()], re.sub(r"[\[\]{}|<>='*#:;\n_]", lambda m: f"&#{ord(m[0])};", inner)]
        position = closing.end()
    return "".join([*parts, text[position:]])


def split_sections(text: str) -> list[WikitextSection]:
    """Return the lead, which may be empty, and then every section, from wikitext without comments."""
    headings = list(_headings(text))
    ends = [*(start for start, _, _, _ in headings), len(text)]
    sections = [WikitextSection((), text[: ends[0]])]
    path: list[tuple[int, str]] = []
    for (_, start, level, name), end in zip(headings, ends[1:], strict=True):
        path = [*((above, title) for above, title in path if above < level), (level, name)]
        sections.append(WikitextSection(tuple(title for _, title in path), text[start:end]))
    return sections


def lead_of(text: str) -> str:
    """Return the text before the first heading of wikitext without comments."""
    return text[: next((start for start, _, _, _ in _headings(text)), len(text))]


def _headings(text: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield start, end of line, level and name of each heading."""
    for match in _HEADING.finditer(text):
        line = match[0].rstrip()
        level = min(len(line) - len(line.lstrip("=")), len(line) - len(line.rstrip("=")), 6)
        if name := line[level : len(line) - level].strip():
            yield match.start(), match.end() + 1, level, name


def balanced(text: str) -> str:
    """Return wikitext with unmatched braces and brackets of templates, links and tags replaced by spaces. Otherwise a
    parser may search the rest of the text for a partner of each of them."""
    opened: list[re.Match[str]] = []
    lone: list[int] = []
    waiting = {"{{": 0, "[[": 0}
    for match in _PAIRS.finditer(text):
        if match[0] in waiting:
            opened.append(match)
            waiting[match[0]] += 1
            continue
        opener = "{{" if match[0] == "}}" else "[["
        if not waiting[opener]:
            lone.append(match.start())
            continue
        while (last := opened.pop())[0] != opener:
            lone.append(last.start())
            waiting[last[0]] -= 1
        waiting[opener] -= 1
    lone += [match.start() for match in opened]
    parts, position = [], 0
    for start in sorted(lone):
        parts.append(text[position:start])
        position = start + 2
    return _LONE_ANGLE.sub(" ", " ".join([*parts, text[position:]]))


def references_of(text: str) -> Iterator[RefElement]:
    """Yield the `<ref>` elements of wikitext; an unclosed one extends to the end of its line."""
    position, closed = 0, True
    while match := _REF.search(text, position):
        attributes = match[1] or ""
        name = _name_in(attributes)
        position = match.end()
        if attributes.rstrip().endswith("/"):
            yield RefElement(match.start(), position, name, None)
            continue
        closing = _REF_END.search(text, position) if closed else None
        closed = closing is not None
        end = closing.start() if closing else _line_end(text, position)
        body = text[match.end() : end]
        position = closing.end() if closing else end
        yield RefElement(match.start(), position, name, body)


def without_references(text: str) -> str:
    """Return wikitext without its `<ref>` elements."""
    parts, position = [], 0
    for reference in references_of(text):
        parts.append(text[position : reference.start])
        position = reference.end
    return "".join([*parts, text[position:]])


def outer_templates(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each outermost `{{...}}` of wikitext; unclosed ones are left out."""
    depth, start = 0, 0
    for match in _BRACES.finditer(text):
        if match[0] == "{{":
            if depth == 0:
                start = match.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, match.end()


def _name_in(attributes: str) -> str | None:
    match = re.search(r"""\bname\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'/]+))""", attributes, re.I)
    if match is None:
        return None
    return " ".join((match[1] or match[2] or match[3] or "").split()) or None


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
