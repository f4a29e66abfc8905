"""Which pages of an encyclopedia are not articles, and which leads are no targets, whatever format they come in."""

from collections.abc import Iterable

from tasks.sources.dump.settings import WikitextSettings
from tasks.sources.source import ArticleReason


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
