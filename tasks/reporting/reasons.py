"""The stages of the corpus as the report tells of them: what their rows are, and what each reason for refusal means."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from tasks.crawl.reasons import CAPTURE_REASONS, FRONTIER_REASONS, PAGE_REASONS, SEARCH_REASONS

ARTICLE_REASONS = {
    "empty_title": "the source has no title for it",
    "empty_lead": "the source has no lead section for it: there is no target",
    "no_sources": "neither a reference nor a search result nor a document",
    "duplicate_title": "there is already an article with that title or name; the first one is kept",
    "malformed_line": "the line of JSON is not an article; as many as this may be refused",
    "malformed_row": "the row is not of its corpus's layout",
    "missing_page": "the wiki has no page of that title",
    "revision_gone": "that revision was hidden or deleted after it was planned",
    "no_content": "the shards have URLs for it, but no text",
    "redirect": "the page only leads to another one",
    "other_namespace": "the page is not an article: a discussion, a template, a file",
    "not_wikitext": "the page is not written in wikitext",
    "list": "a list, by its title",
    "disambiguation": "the page only tells apart pages of like titles, by its title, templates or categories",
    "short_lead": "the lead has fewer words than the settings ask for",
    "apparatus": "a section of references or links",
    "frozen_test_article": "it has the title or the lead of a test article on which models are judged",
}

DOCUMENT_REASONS = {
    "page_missing": "the page is not among those fetched",
    "no_body": "the page has no body",
    "no_text": "no engine found a main text",
    "no_text_layer": "the PDF has no text, only pictures of pages: it needs text recognition (OCR) first",
    "encrypted": "the PDF is protected by a password",
    "extraction_timeout": "extraction took longer than the settings allow",
    "extraction_memory": "extraction took more memory than the settings allow",
    "extraction_failed": "no engine could read it: it may be damaged",
}

GIVEN_REASONS = {
    "no_documents": "the source has no document for the article",
    "duplicate_url": "there is already a document with that URL; the first one is kept",
    "no_text": "the document has no text",
}

PARAGRAPH_REASONS = {
    "page_licence": "the licence of its page is not among those asked for",
    "page_reserved": "there is a sign that the rights of its page are reserved against mining",
    "page_language": "its page is not surely in a language asked for",
    "page_quality": "a signal of its page's quality is outside the thresholds asked for",
    "page_personal_data": "its page has more personal data, such as e-mail addresses, than asked for",
    "too_long": "longer than any author's paragraph",
    "no_letters": "no letter in it",
    "too_short": "fewer words than the settings ask for",
    "mostly_links": "most of it is web addresses",
    "mostly_symbols": "most of it is digits, punctuation and signs",
    "markup": "code or markup rather than prose",
    "boilerplate": "a phrase typical of cookie notices, footers and forms",
    "navigation": "a menu or a list of links",
    "no_sentence": "no sentence in it",
    "language": "surely in another language",
    "host_boilerplate": "it repeats across pages of its host",
    "junk": "it reads like a reference, a caption, a teaser or a comment rather than like prose on the subject",
    "clone_document": "the whole document is a copy of the article",
    "clone": "it repeats the lead section",
    "clone_of_part": "it repeats a part of the lead section",
    "copied_from_lead": "it is taken from the lead section",
    "duplicate": "an earlier paragraph of the article has the same text",
    "rest_of_document": "all that a document has beyond the most paragraphs or characters, counted once",
    "over_limit": "the article has more candidates than the settings allow",
}

ACROSS_REASONS = {
    "leak": "of a training article, and it contains what a validation or test article has as its lead or source",
    "near_duplicate": "nearly equal to an earlier paragraph, or in a document nearly equal to an earlier one",
}


class ReportedStage(NamedTuple):
    """What the report says of a stage of the corpus.

    Attributes:
        heading: what its rows are; None for a stage that is not in the table of rows.
        reasons: each reason for refusing one of them, and what it means.
    """

    heading: str | None
    reasons: Mapping[str, str] = MappingProxyType({})


# In the order of the pipeline.
REPORTED_STAGES: Mapping[str, ReportedStage] = {
    "intake": ReportedStage(None, ARTICLE_REASONS),
    "articles": ReportedStage("articles", ARTICLE_REASONS),
    "search": ReportedStage("search results", {**FRONTIER_REASONS, **SEARCH_REASONS}),
    "captures": ReportedStage("archived captures", CAPTURE_REASONS),
    "captures-indexed": ReportedStage("captures an index names", CAPTURE_REASONS),
    "frontier": ReportedStage("URLs of articles", FRONTIER_REASONS),
    "pages": ReportedStage("pages", PAGE_REASONS),
    "documents": ReportedStage("documents", {**PAGE_REASONS, **DOCUMENT_REASONS}),
    "given": ReportedStage("documents the source gives", GIVEN_REASONS),
    "paragraphs": ReportedStage("paragraphs", PARAGRAPH_REASONS),
    "compared": ReportedStage("paragraphs, compared across articles", {**PARAGRAPH_REASONS, **ACROSS_REASONS}),
    "features": ReportedStage("labelled paragraphs"),
    "ranked": ReportedStage("ranked paragraphs"),
    "graphs": ReportedStage("articles with a graph"),
    "examples": ReportedStage("examples"),
    "sentence-examples": ReportedStage("examples"),
}


def meaning(stage: str, reason: str) -> str:
    """Return what a reason of a stage means, or an empty string for an unknown reason."""
    reported = REPORTED_STAGES.get(stage)
    text = None if reported is None else reported.reasons.get(reason)
    if text is None and reason.startswith("http_"):
        return f"the server answered with status {reason.removeprefix('http_')}"
    return text or ""
