"""Settings of candidate paragraphs: what is prose, what is a clone, and how many an article may have."""

from typing import Literal

from pydantic import Field, field_validator

from tasks.engine.settings import Settings
from tasks.rights.conditions import RULE_SETS, parse_conditions
from tasks.text.language import check_language

OF_ARTICLE = "article"  # the language of each article's lead, as a value of `ParagraphFilterSettings.language`


class ParagraphFilterSettings(Settings):
    """Which paragraphs are refused as not prose."""

    preset: Literal["default", "liu2018", "none"] = "default"
    """rules: default; those of Liu et al. 2018 (fewer than 6 tokens, no ASCII letter, no sentence of more than 3 tokens
    ending in a full stop); none"""
    language: str | None = OF_ARTICLE
    """language that paragraphs must have, whatever the preset: one of a web page or PDF that is surely in another
    language is refused. ISO 639-1 code; article = the language of the article's lead, if it is sure, and all documents
    that the source itself contains are kept; null = every language is kept, for sources in many languages"""

    @field_validator("language")
    @classmethod
    def _can_be_told(cls, value: str | None) -> str | None:
        return value if value in (None, OF_ARTICLE) else check_language(value)


class CloneSettings(Settings):
    """When a paragraph counts as copied from the article: a share above its threshold; null = not asked."""

    recall: float | None = Field(0.8, ge=0, le=1)
    """share of the lead's bigrams that occur in the paragraph (Liu & Lapata 2019, sec. 4)"""
    part_recall: float | None = Field(0.8, ge=0, le=1)
    """share of the bigrams of one paragraph of the lead (its line breaks) that occur in the paragraph; finds mirrors of
    a lead of several paragraphs; null = the paper's rule alone"""
    mirror: float | None = Field(0.4, ge=0, le=1)
    """share of the lead's 8-grams that a crawled page has as a whole, above which its paragraphs that repeat the lead
    are refused, however the page lays it out; at most 0.39 on real cited pages; does not apply to documents that the
    source itself holds, because their summaries quote them; null = the papers' rule alone"""
    document: float | None = Field(None, ge=0, le=1)
    """share of the lead's words that occur in the whole document: drops all its paragraphs (Liu et al. 2018, 0.5); off,
    because a long page on the subject passes it without a copied sentence"""


class PageFilterSettings(Settings):
    """Which pages are sources at all, by the columns of `documents`, and what is masked in those that are."""

    keep: tuple[str, ...] = Field(
        (),
        description="conditions that a page must meet, else its paragraphs are refused: licence=CC-BY-4.0|CC0-1.0, "
        "terms=free|non-commercial, reservations=none, language=en|unknown, emails<=3, words>=50 and so on, by any "
        "column of `documents` on licence, reservations, language, quality or personal data (* = any characters, "
        "unknown = null), terms being what the licence allows; or the "
        f"published thresholds of {', '.join(RULE_SETS)}; empty = every page",
    )
    obey_training: bool = True
    """refuse a page that reserves its text against training (ai-train=no, noai, tdm-reservation and so on; of
    `reservations` all but those against search, models that read a page, and pictures) as a source of articles of the
    training split; false = such a page is kept there, as it always is for the other splits and for summaries"""
    mask_personal: bool = False
    """replace e-mail addresses, telephone numbers and IP addresses in paragraphs by [e-mail], [telephone] and [IP
    address]"""

    @field_validator("keep")
    @classmethod
    def _are_conditions(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        parse_conditions(value)
        return value


class ParagraphSettings(Settings):
    """Which paragraphs of the documents become candidates."""

    pages: PageFilterSettings = Field(default_factory=PageFilterSettings)
    """which pages may be sources, and what is masked in them"""
    filter: ParagraphFilterSettings = Field(default_factory=ParagraphFilterSettings)
    """which texts are prose at all"""
    clones: CloneSettings = Field(default_factory=CloneSettings)
    """which paragraphs count as copied from the article"""
    quality: float | None = Field(None, gt=0, lt=1)
    """probability (0-1) from which a paragraph of a crawled English page is refused as junk: a reference, a caption, a
    teaser, a comment; a lower one refuses more of these and more prose; a page with only junk keeps its best paragraph;
    null = off, as in the papers"""
    max_paragraphs: int | None = Field(2000, ge=1, le=10_000_000)
    """candidates an article may have (the mean of Liu & Lapata 2019, sec. 4 is 525); an article with more keeps the
    first ones of every document alike, so that one book cannot crowd out the other sources; null = no limit"""
