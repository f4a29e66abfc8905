"""Settings of a summary of a user's pages."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from tasks.engine.settings import HEADER_TEXT, Settings
from tasks.fetching.content import PACKED
from tasks.fetching.settings import CrawlSettings, HostPattern
from tasks.paragraphs.settings import ParagraphFilterSettings
from tasks.text.language import LanguageCode
from tasks.writing.settings import WriterSettings

# Who writes: the language model if one is set, else the trained model if it suits the sources; the trained model
# whatever it writes; or the extractive system.
Choice = Literal["suitable", "model", "extractive"]
LENGTHS: Mapping[str, int] = {"short": 80, "medium": 150, "long": 400}  # words, instead of a number
_TYPES = ("text/html", "application/xhtml+xml", "text/plain", "text/markdown", "application/pdf", *PACKED)


class SummarySettings(Settings):
    """How a user's pages are read and summarized."""

    words: int = Field(150, ge=20, le=2000)
    """words of a summary, at most, and about what a language model is asked for"""
    headings: bool | None = None
    """whether a summary has sections: a language model's by its outline, chosen sentences' by source, a trained
    model's never; null = only a language model's from 600 words on"""
    writer: WriterSettings | None = None
    """a language model that writes; null = none"""
    language: LanguageCode | None = "en"
    """ISO 639-1 code: paragraphs surely in another language are refused, except those of plain text, whose language
    is intended; null = every language is kept"""
    max_sources: int = Field(100, ge=1, le=100_000)
    """pages and files of one summary, at most"""
    max_bytes: int = Field(20_000_000, ge=1, le=10_000_000_000)
    """limit for a file, and for a page after decompression"""
    contact: str = Field("", pattern=HEADER_TEXT)
    """URL or e-mail address at which fetched sites can reach you"""
    allowed_hosts: tuple[HostPattern, ...] = ()
    """patterns (*, ?) of host or host:port that may have a private address"""

    @property
    def crawl(self) -> CrawlSettings:
        """How URLs are fetched: as in the crawl."""
        return CrawlSettings(
            contact=self.contact,
            accepted_types=_TYPES,
            max_bytes=self.max_bytes,
            allowed_hosts=self.allowed_hosts,
            mirror_hosts=(),  # clones repeat a target, and a summary has no target
        )

    @property
    def filter(self) -> ParagraphFilterSettings:
        """Which paragraphs are prose in the language of the summary."""
        return ParagraphFilterSettings(language=self.language)
