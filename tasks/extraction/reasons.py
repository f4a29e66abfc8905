"""Reasons of pages without text."""

from tasks.engine.reasons import Reason


class DocumentReason(Reason):
    """Why a fetched page does not become a document."""

    PAGE_MISSING = "page_missing", "the page is not among those fetched"
    NO_BODY = "no_body", "the page has no body"
    NO_TEXT = "no_text", "no engine found a main text"
    CONSENT_WALL = "consent_wall", "it only asks for consent to cookies"
    NOT_FOUND = "not_found", "it says that the page does not exist, although its status is a success"
    BOT_CHECK = "bot_check", "it only checks that its reader is not a program"
    PARKED_DOMAIN = "parked_domain", "it only offers its domain for sale"
    UNSUPPORTED_BROWSER = "unsupported_browser", "it only asks for another browser, or for JavaScript"
    MOVED = "moved", "it only says that the page has moved"
    NO_TEXT_LAYER = (
        "no_text_layer",
        "the PDF has no text, only pictures of pages: it needs text recognition (OCR) first",
    )
    GARBLED = ("garbled", "the PDF has codes of its fonts instead of characters: it needs text recognition (OCR) first")
    ENCRYPTED = "encrypted", "the file is protected by a password or against copying"
    EXPANDS_TOO_FAR = "expands_too_far", "the file is small, but its expanded content is larger than the limit"
    EXTRACTION_TIMEOUT = "extraction_timeout", "extraction took longer than the settings allow"
    EXTRACTION_MEMORY = "extraction_memory", "extraction took more memory than the settings allow"
    EXTRACTION_FAILED = "extraction_failed", "no engine could read it: it may be damaged"
