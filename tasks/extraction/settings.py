"""What can be set about extraction."""

from typing import Literal

from pydantic import Field, field_validator

from tasks.engine.settings import Settings

# They find the main text in a page of a web site; plain text, Markdown, PDF and given documents have no site around it.
HTML_ENGINES = frozenset({"trafilatura", "density", "readability", "soup"})


class ExtractSettings(Settings):
    """How main text is found in pages, and what a page may cost."""

    engine: Literal["trafilatura", "density"] = "trafilatura"
    """engine that finds the main text: trafilatura, or density, which is several times as fast"""
    favour: Literal["precision", "balance", "recall"] = "precision"
    """what trafilatura prefers in doubt: less text that is sure, or more"""
    tables: bool = True
    """whether trafilatura keeps text in tables"""
    rescue_below: float = Field(0.95, ge=0, le=1)
    """trafilatura is asked where density and readability, which are cheaper, do not agree; where its text agrees with
    theirs less than this share (0-1) of the best agreement of the three, the text that agrees best is taken; 0 =
    trafilatura is asked for every page, and another text is taken only where it finds none"""
    cpu_seconds: float = Field(10.0, gt=0, le=3600)
    """processor time a page may take, in seconds; beyond it the page is refused as extraction_timeout"""
    memory_mib: int = Field(2048, ge=512)
    """address space of the extracting process, in MiB; a page that needs more is refused as extraction_memory"""
    repeated_pages: int = Field(3, ge=0)
    """a short line that stands on at least so many different pages of one host is boilerplate; 0 = off"""

    @field_validator("repeated_pages")
    @classmethod
    def _one_page_repeats_nothing(cls, value: int) -> int:
        if value == 1:
            raise ValueError("repeated_pages is 1, expected 0 (off) or at least 2")
        return value
