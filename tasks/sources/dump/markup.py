"""Wikitext before it is parsed: its comments, references, templates and sections, and the URLs that these cite.

All functions take time proportional to the text, however broken it is: the end of something never closed is searched
only once."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tasks.sources.settings import WikitextSettings

# A comment alone on its line goes with the line break, so that no empty line is left.
_COMMENT = re.compile(r"^(?><!--.*?-->)\n|<!--.*?(?:-->|\Z)", re.M | re.S)
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


def without(text: str, spans: Iterable[tuple[int, int]], instead: str = "") -> str:
    """Return a text without some spans of it, given by start and end, in order; `instead` stands for each."""
    parts, position = [], 0
    for start, end in spans:
        parts.append(text[position:start])
        position = end
    return instead.join([*parts, text[position:]])


def without_comments(text: str) -> str:
    """Return wikitext without comments; an unclosed one extends to the end. Markup in verbatim elements is escaped."""
    return _without_verbatim(_COMMENT.sub("", text))


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
    return _LONE_ANGLE.sub(" ", without(text, ((start, start + 2) for start in sorted(lone)), " "))


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
        end = closing.start() if closing else text.find("\n", position)
        end = len(text) if end < 0 else end
        body = text[match.end() : end]
        position = closing.end() if closing else end
        yield RefElement(match.start(), position, name, body)


def without_references(text: str) -> str:
    """Return wikitext without its `<ref>` elements."""
    return without(text, ((reference.start, reference.end) for reference in references_of(text)))


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


_URL = re.compile(r"(?:https?:)?(?<![a-z0-9/])//[^\s<>\[\]{}|\"\u3000]+", re.I)
_FIELD = re.compile(r"\|\s*+([^\W\d_](?:[\w\- ]*[\w\-])?)\s*+=\s*+([^|\s][^|]*)")
_ARCHIVE_FIELD = re.compile(r"(?=.*arch)(?=.*ur[il])|wayback$", re.I)
_URL_FIELD = re.compile(r"(?:.+[- ]?)?ur[il]$|lien$|online$", re.I)
_CITATION = re.compile(
    r"\{\{\s*(?:cite\b|citation\s*\||vcite|citar?\s|cit[ae]\s|literatur\s*\||internetquelle\s*\||lien web)", re.I
)
_WEB_ARCHIVE = re.compile(r"\{\{\s*(?:web ?archive|wayback)\s*\|", re.I)
_REFERENCE_TEMPLATE = re.compile(r"\{\{\s*r\s*\|([^{}]*)\}\}", re.I)
_LIVE = frozenset({"live", "no", "n"})
_LONGEST_CITATION = 5_000  # characters of a template in which its end is searched
_ENDS = ".,;:!?'"


class CitedUrls:
    """The URLs cited by a page or one of its sections, in order of first citation.

    A citation is a `<ref>` element, a `{{r}}` that names one, a citation template outside of these, or a link in a
    section that lists references. A `<ref>` that only names another, and a definition in a list at the page's end,
    count where they are first cited. A citation template gives the fields url, chapter-url and the like, and
    archive-url if the URL is not marked as live. Free text gives its links. DOIs and other identifiers are not URLs."""

    def __init__(self, text: str, settings: WikitextSettings) -> None:
        """Read the definitions of a page's named references. `text` is the source of the whole page, without
        comments."""
        self._settings = settings
        self._sections = split_sections(text)
        self._named: dict[str, str] = {}
        for reference in references_of(text):
            if reference.name and reference.body and reference.body.strip():
                self._named.setdefault(reference.name, reference.body)

    def urls(self) -> tuple[str, ...]:
        """Return the URLs that the page cites, each once."""
        return tuple(dict.fromkeys(url for section in self._sections for url in self._section_urls(section)))

    def section_urls(self, section: WikitextSection) -> tuple[str, ...]:
        """Return the URLs that one section cites, each once."""
        return tuple(dict.fromkeys(self._section_urls(section)))

    def _section_urls(self, section: WikitextSection) -> Iterator[str]:
        names = {plain_heading(name) for name in section.path}
        if not names.isdisjoint(self._settings.names["external_sections"]):
            return
        listing = not names.isdisjoint(self._settings.names["reference_sections"])
        position = 0
        for reference in references_of(section.text):
            yield from self._outside(section.text[position : reference.start], listing=listing)
            own = reference.body or ""
            yield from self._urls_of(own if own.strip() else self._named.get(reference.name or "", ""))
            position = reference.end
        yield from self._outside(section.text[position:], listing=listing)

    def _outside(self, text: str, *, listing: bool) -> Iterator[str]:
        """Yield the URLs of text between `<ref>` elements."""
        if listing:
            yield from self._urls_of(text)
            return
        position = 0
        for match in re.finditer(r"\{\{", text):
            if match.start() < position:
                continue
            if names := _REFERENCE_TEMPLATE.match(text, match.start()):
                position = names.end()
                for name in names[1].split("|"):
                    body = self._named.get(" ".join(name.split())) if "=" not in name else None
                    yield from self._urls_of(body or "")
            elif _CITATION.match(text, match.start()):
                template = outer_templates(text[match.start() : match.start() + _LONGEST_CITATION])
                position = match.start() + next((end for _, end in template), 2)
                yield from self._urls_of(text[match.start() : position])

    def _urls_of(self, body: str) -> list[str]:
        body = html.unescape(body.replace("{{=}}", "=").replace("{{!}}", "%7C"))
        urls: list[str] = []
        position = 0
        for start, end in outer_templates(body):
            urls += links_in(body[position:start])
            template = body[start:end]
            if _WEB_ARCHIVE.match(template):
                add_archived(urls, links_in(template))
            else:
                urls += field_urls(dict(_FIELD.findall(template))) or links_in(template)
            position = end
        return urls + links_in(body[position:])


def add_archived(urls: list[str], links: Sequence[str]) -> None:
    """Apply a template with the archived form of the link before it: its first link replaces that link, the last of
    `urls`, as the encyclopedia itself links."""
    if links:
        urls[-1:] = links[:1]


def plain_heading(name: str) -> str:
    """Return a heading in the form used in the settings."""
    return " ".join(re.sub(r"'{2,}|<[^<>]*>|\[\[|\]\]", "", name).split()).casefold()


def is_citation(name: str) -> bool:
    """Whether a template of this name is a citation."""
    return _CITATION.match(f"{{{{{name} |") is not None


def is_archive_template(name: str) -> bool:
    """Whether a template of this name gives the archived copy of the link before it."""
    return _WEB_ARCHIVE.match(f"{{{{{name}|") is not None


def field_urls(fields: Mapping[str, str]) -> list[str]:
    """Return the URLs in the fields of a citation template, none if no field is for a URL. An archive-url replaces a
    URL that is not marked as live (url-status=live, dead-url=no), as the encyclopedia itself links."""
    values = {name.lower(): value.strip() for name, value in fields.items()}
    archives: list[str] = []
    urls: list[str] = []
    for name, value in values.items():
        if _ARCHIVE_FIELD.match(name):
            archives += links_in(value)[:1]
        elif _URL_FIELD.match(name):
            urls += links_in(value)[:1]
    if not urls:
        return archives[:1]
    if archives:
        status = values.get("url-status", values.get("dead-url", values.get("deadurl", "dead")))
        if status.strip("{} \n").lower() not in _LIVE:
            urls[0] = archives[0]
    return urls


def links_in(text: str) -> list[str]:
    """Return the links of free text, without the punctuation that follows them."""
    urls = []
    for match in _URL.finditer(text):
        url, before = match[0], text[max(0, match.start() - 1) : match.start()]
        if url.startswith("//"):
            if before not in ("[", "", "="):
                continue  # no link, but two slashes
            url = f"https:{url}"
        url = url.partition("''")[0]
        if before != "[":
            url = url.rstrip(_ENDS if "(" in url else f"{_ENDS})")
        if len(url) > len("https://"):
            urls.append(url)
    return urls
