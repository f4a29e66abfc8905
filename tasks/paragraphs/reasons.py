"""Reasons of refused paragraphs; `tasks.rights.conditions` has those that their page gives."""

from tasks.engine.reasons import Reason


class ParagraphReason(Reason):
    """Why a paragraph is not a candidate."""

    TOO_LONG = "too_long", "longer than any author's paragraph"
    NO_LETTERS = "no_letters", "no letter in it"
    TOO_SHORT = "too_short", "fewer words than the settings ask for"
    MOSTLY_LINKS = "mostly_links", "most of it is web addresses"
    MOSTLY_SYMBOLS = "mostly_symbols", "most of it is digits, punctuation and signs"
    MARKUP = "markup", "code or markup rather than prose"
    BOILERPLATE = "boilerplate", "a phrase typical of cookie notices, footers and forms"
    NAVIGATION = "navigation", "a menu or a list of links"
    NO_SENTENCE = "no_sentence", "no sentence in it"
    LANGUAGE = "language", "surely in another language"
    HOST_BOILERPLATE = "host_boilerplate", "it repeats across pages of its host"
    JUNK = "junk", "it reads like a reference, a caption, a teaser or a comment rather than like prose on the subject"
    CLONE_DOCUMENT = "clone_document", "the whole document is a copy of the article"
    CLONE = "clone", "it repeats the lead section"
    CLONE_OF_PART = "clone_of_part", "it repeats a part of the lead section"
    COPIED_FROM_LEAD = "copied_from_lead", "it is taken from the lead section"
    DUPLICATE = "duplicate", "an earlier paragraph of the article has the same text"
    REST_OF_DOCUMENT = (
        "rest_of_document",
        "all that a document has beyond the most paragraphs or characters, counted once",
    )
    OVER_LIMIT = "over_limit", "the article has more candidates than the settings allow"
