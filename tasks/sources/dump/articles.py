"""Turn a page into an article: its lead and its citations, or the reason why it is not an article, whatever format it
comes in."""

import re
from collections.abc import Iterable, Iterator

from tasks.sources.dump.markup import CitedUrls, lead_of, plain_heading, split_sections, without_comments
from tasks.sources.dump.pages import DumpPage, Site
from tasks.sources.dump.prose import plain_prose
from tasks.sources.settings import WikitextSettings
from tasks.sources.source import Article, ArticleReason

FORMAT_VERSION = 3  # rises when the same wikitext would give other articles

_REDIRECT = re.compile(r"\s*#\s*redirect", re.I)
_TEMPLATE_NAME = re.compile(r"\{\{\s*+(?:template\s*+:\s*+)?([^\s{}|](?:[^{}|\n]*[^\s{}|])?)\s*+(?=\||\}\})", re.I)
_CATEGORY_NAME = re.compile(r"\[\[[^\[\]|:]+:\s*+([^\s\[\]|](?:[^\[\]|]*[^\s\[\]|])?)\s*+(?=\||\]\])")


class PageRules:
    """The rules of one wiki's settings."""

    def __init__(self, settings: WikitextSettings) -> None:
        self._settings = settings
        self._templates = frozenset(settings.disambiguation_templates)
        self._categories = frozenset(settings.disambiguation_categories)

    def page_reason(self, title: str, templates: Iterable[str] = (), categories: Iterable[str] = ()) -> str | None:
        """Return why a page is not an article: list, disambiguation, or None. Names of templates and categories are
        without their namespace."""
        folded = title.casefold()
        if folded.startswith(self._settings.list_prefixes):
            return ArticleReason.LIST
        if (
            folded.endswith(self._settings.disambiguation_suffixes)
            or any(_folded(name) in self._templates for name in templates)
            or any(_folded(name) in self._categories for name in categories)
        ):
            return ArticleReason.DISAMBIGUATION
        return None

    def lead_reason(self, lead: str) -> str | None:
        """Return why a lead is not a target: empty_lead, short_lead, or None."""
        if not lead.strip():
            return ArticleReason.EMPTY_LEAD
        return ArticleReason.SHORT_LEAD if len(lead.split()) < self._settings.min_lead_words else None


def _folded(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()


class ArticleReader:
    """Turns pages of one wiki into articles."""

    def __init__(self, site: Site, settings: WikitextSettings) -> None:
        self.site = site
        self._settings = settings
        self._rules = PageRules(settings)

    def article(self, page: DumpPage) -> Article:
        """Return the article of a page; if it is not an article or its lead is too short, only title and reason. The
        reasons: other_namespace, redirect, not_wikitext, list, disambiguation, empty_lead, short_lead."""
        if reason := self.page_reason(page):
            return self._refused(page, reason)
        text = without_comments(page.text)
        lead = plain_prose(lead_of(text), self.site)
        if reason := self._rules.lead_reason(lead):
            return self._refused(page, reason, lead)
        return Article(
            title=page.title,
            lead=lead,
            references=CitedUrls(text, self._settings).urls(),
            revision=page.revision,
            licence=self._settings.licence,
            page=page.id,
        )

    def sections(self, page: DumpPage) -> Iterator[tuple[str, Article]]:
        """Yield the path and article of each section except the lead; any other page gives a refused one. A section
        does not include its subsections or their citations; its title is that of the page and, in brackets, its path of
        headings; the sections of a page are a group. A further reason: apparatus, a section of references or links."""
        if reason := self.page_reason(page):
            yield "", self._refused(page, reason)
            return
        text = without_comments(page.text)
        citations = CitedUrls(text, self._settings)
        apparatus = {*self._settings.external_sections, *self._settings.reference_sections}
        for section in split_sections(text)[1:]:
            path = " / ".join(plain_prose(name, self.site) for name in section.path)
            listing = not apparatus.isdisjoint(plain_heading(name) for name in section.path)
            prose = "" if listing else plain_prose(section.text, self.site)
            reason = ArticleReason.APPARATUS if listing else self._rules.lead_reason(prose)
            article = Article(
                title=f"{page.title} ({path})",
                lead=prose,
                references=() if reason else citations.section_urls(section),
                group=page.title,
                revision=page.revision,
                licence=self._settings.licence,
                page=page.id,
                drop_reason=reason,
            )
            yield path, article

    def page_reason(self, page: DumpPage) -> str | None:
        """Return why a page is not an article, or None."""
        if page.namespace != 0:
            return ArticleReason.OTHER_NAMESPACE
        if page.redirect or _REDIRECT.match(page.text):
            return ArticleReason.REDIRECT
        if page.model != "wikitext":
            return ArticleReason.NOT_WIKITEXT
        templates, categories = _TEMPLATE_NAME.findall(page.text), _CATEGORY_NAME.findall(page.text)
        magic_word = ArticleReason.DISAMBIGUATION if "__DISAMBIG__" in page.text else None
        return self._rules.page_reason(page.title, templates, categories) or magic_word

    def _refused(self, page: DumpPage, reason: str, lead: str = "") -> Article:
        licence = self._settings.licence
        return Article(page.title, lead, (), revision=page.revision, licence=licence, drop_reason=reason)
