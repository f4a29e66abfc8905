"""Settings of extraction."""

from typing import Literal

from pydantic import Field, field_validator

from tasks.engine.settings import Settings

# They find the main text in a page of a web site; plain text, Markdown, PDF and given documents have no site around it.
HTML_ENGINES = frozenset({"blocks", "embedded", "trafilatura"})


class ExtractSettings(Settings):
    """How main text is found in pages, and what a page may cost."""

    engine: Literal["blocks", "trafilatura"] = "blocks"
    """engine that finds the main text: the learned classifier of blocks, or trafilatura, which takes longer"""
    tables: bool = True
    """whether text in tables is kept"""
    cpu_seconds: float = Field(10.0, gt=0, le=3600)
    """processor time a page may take, in seconds; beyond it the page is refused as extraction_timeout"""
    memory_mib: int = Field(2048, ge=512, le=1 << 20)
    """address space of the extracting process, in MiB; a page that needs more is refused as extraction_memory"""
    repeated_pages: int = Field(3, ge=0, le=1_000_000)
    """a short line on at least so many different pages of one host is boilerplate; 0 = off"""

    @field_validator("repeated_pages")
    @classmethod
    def _one_page_repeats_nothing(cls, value: int) -> int:
        if value == 1:
            raise ValueError("repeated_pages is 1, expected 0 (off) or at least 2")
        return value
