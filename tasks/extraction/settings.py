"""Settings of extraction."""

from typing import Literal

from pydantic import Field

from tasks.engine.settings import Settings

# They find the main text in a page of a web site; plain text, Markdown, PDF and given documents have no site around it.
HTML_ENGINES = frozenset({"blocks", "embedded", "trafilatura"})


class ExtractSettings(Settings):
    """How main text is found in pages, and what a page may cost."""

    engine: Literal["blocks", "trafilatura"] = "blocks"
    """engine that finds the main text: the learned classifier of blocks, or trafilatura, which takes longer"""
    cpu_seconds: float = Field(10.0, gt=0, le=3600)
    """processor time a page may take, in seconds; beyond it the page is refused as extraction_timeout"""
