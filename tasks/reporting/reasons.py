"""What each reason for a drop means, in the words of the report."""

from collections.abc import Mapping

from tasks.crawl.reasons import CAPTURE_REASONS, FRONTIER_REASONS, PAGE_REASONS, SEARCH_REASONS

ARTICLE_REASONS = {
    "empty_title": "the source gives no title",
    "empty_lead": "the source gives no lead section: there is no target",
    "no_sources": "neither a reference nor a search result",
    "duplicate_title": "an article of that title is there already; the first one stays",
    "frozen_test_article": "it has the title or the lead of a test article that models are judged on",
}

DOCUMENT_REASONS = {
    "page_missing": "the page is not among those fetched",
    "no_body": "the page has no body",
    "no_text": "no engine found a main text",
    "extraction_timeout": "extraction took longer than the settings allow",
    "extraction_memory": "extraction took more memory than the settings allow",
    "extraction_failed": "every engine failed on the page",
}

GIVEN_REASONS = {
    "no_documents": "the source gives no document for the article",
    "duplicate_url": "a document of that URL is there already; the first one stays",
    "no_text": "the document has no text",
}

PARAGRAPH_REASONS = {
    "too_long": "longer than any author's paragraph",
    "no_letters": "no letter in it",
    "too_short": "fewer words than the settings ask for",
    "mostly_links": "most of it is web addresses",
    "mostly_symbols": "most of it is digits, punctuation and signs",
    "markup": "code or markup rather than prose",
    "boilerplate": "a phrase that cookie notices, footers and forms are made of",
    "navigation": "a menu or a list of links",
    "no_sentence": "no sentence in it",
    "language": "surely in another language",
    "host_boilerplate": "it repeats across pages of its host",
    "clone_document": "the whole document is a copy of the article",
    "clone": "it repeats the lead section",
    "clone_of_part": "it repeats a part of the lead section",
    "copied_from_lead": "it is taken from the lead section",
    "duplicate": "the same text stands earlier among the article's paragraphs",
    "over_limit": "the article has more candidates than the settings allow",
}

_OF_STAGE: Mapping[str, Mapping[str, str]] = {
    "intake": ARTICLE_REASONS,
    "articles": ARTICLE_REASONS,
    "search": {**FRONTIER_REASONS, **SEARCH_REASONS},
    "captures": CAPTURE_REASONS,
    "captures-indexed": CAPTURE_REASONS,
    "frontier": FRONTIER_REASONS,
    "pages": PAGE_REASONS,
    "documents": {**PAGE_REASONS, **DOCUMENT_REASONS},
    "given": GIVEN_REASONS,
    "paragraphs": PARAGRAPH_REASONS,
}


def meaning(stage: str, reason: str) -> str:
    """Return what a reason of a stage means, or an empty string where nobody has said."""
    known = _OF_STAGE.get(stage, {}).get(reason)
    if known is None and reason.startswith("http_"):
        return f"the server answered with status {reason.removeprefix('http_')}"
    return known or ""
