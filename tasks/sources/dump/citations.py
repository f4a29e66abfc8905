"""The URLs a page cites, in order of first citation.

A citation is a `<ref>` element, a `{{r}}` that names one, a citation template outside of these, or a link in a section
that lists references. A `<ref>` that only names another, and a definition in a list at the page's end, count where they
are first cited. From a citation template the fields url, chapter-url and the like are taken, and archive-url according
to `WikitextSettings.archived`; from free text the links. DOIs and other identifiers are not URLs."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from tasks.sources.dump.markup import WikitextSection, outer_templates, references_of, split_sections
from tasks.sources.dump.settings import Archived, WikitextSettings

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
    """The URLs cited by a page or one of its sections."""

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
        if not names.isdisjoint(self._settings.external_sections):
            if self._settings.external_links:
                yield from self._urls_of(section.text)
            return
        listing = not names.isdisjoint(self._settings.reference_sections)
        position = 0
        for reference in references_of(section.text):
            yield from self._outside(section.text[position : reference.start], listing=listing)
            body = (
                reference.body if reference.body and reference.body.strip() else self._named.get(reference.name or "")
            )
            yield from self._urls_of(body or "")
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
                yield from self._urls_named(names[1])
            elif _CITATION.match(text, match.start()):
                end = next(
                    (end for _, end in outer_templates(text[match.start() : match.start() + _LONGEST_CITATION])), 2
                )
                position = match.start() + end
                yield from self._urls_of(text[match.start() : position])

    def _urls_named(self, names: str) -> Iterator[str]:
        for name in names.split("|"):
            if "=" not in name and (body := self._named.get(" ".join(name.split()))):
                yield from self._urls_of(body)

    def _urls_of(self, body: str) -> list[str]:
        """Return the URLs of a citation's text in order."""
        body = html.unescape(body.replace("{{=}}", "=").replace("{{!}}", "%7C"))
        urls: list[str] = []
        position = 0
        for start, end in outer_templates(body):
            urls += links_in(body[position:start])
            template = body[start:end]
            if _WEB_ARCHIVE.match(template):
                add_archived(urls, links_in(template), self._settings.archived)
            else:
                urls += field_urls(dict(_FIELD.findall(template)), self._settings.archived) or links_in(template)
            position = end
        return urls + links_in(body[position:])


def add_archived(urls: list[str], links: Sequence[str], archived: Archived) -> None:
    """Apply a template with the archived form of the link before it. The last of `urls`, those before it, may be
    replaced by one of its `links`."""
    if not urls or (links and archived == "after"):
        urls += links[:1]
    elif links and archived == "dead":
        urls[-1] = links[0]


def plain_heading(name: str) -> str:
    """Return a heading in the form used in the settings."""
    return " ".join(re.sub(r"'{2,}|<[^<>]*>|\[\[|\]\]", "", name).split()).casefold()


def is_citation(name: str) -> bool:
    """Whether a template of this name is a citation."""
    return _CITATION.match(f"{{{{{name} |") is not None


def is_archive_template(name: str) -> bool:
    """Whether a template of this name gives the archived copy of the link before it."""
    return _WEB_ARCHIVE.match(f"{{{{{name}|") is not None


def field_urls(fields: Mapping[str, str], archived: Archived) -> list[str]:
    """Return the URLs in the fields of a citation template, none if no field is for a URL."""
    values = {name.lower(): value.strip() for name, value in fields.items()}
    archives = [link for name, value in values.items() if _ARCHIVE_FIELD.match(name) for link in links_in(value)[:1]]
    urls = [
        link
        for name, value in values.items()
        if _URL_FIELD.match(name) and not _ARCHIVE_FIELD.match(name)
        for link in links_in(value)[:1]
    ]
    if not urls:
        return archives[:1]
    if archives and archived == "after":
        urls.insert(1, archives[0])
    elif archives and archived == "dead":
        status = values.get("url-status", values.get("dead-url", values.get("deadurl", "dead")))
        if status.strip("{} \n").lower() not in _LIVE:
            urls[0] = archives[0]
    return urls


def links_in(text: str) -> list[str]:
    """Return the links of free text, without the punctuation that follows them."""
    urls = []
    for match in _URL.finditer(text):
        url = match[0]
        if url.startswith("//"):
            if text[max(0, match.start() - 1) : match.start()] not in ("[", "", "="):
                continue  # no link, but two slashes
            url = f"https:{url}"
        url = url.partition("''")[0]
        bracketed = text[max(0, match.start() - 1) : match.start()] == "["
        if not bracketed:
            url = url.rstrip(_ENDS if "(" in url else f"{_ENDS})")
        if len(url) > len("https://"):
            urls.append(url)
    return urls
