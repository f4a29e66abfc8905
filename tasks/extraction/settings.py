"""Settings of extraction."""

from typing import ClassVar, Literal

from tasks.engine.settings import Settings

CPU_SECONDS = 10.0  # of processor time a page may take; beyond it the page is refused as extraction_timeout
# They find the main text in a page of a web site; plain text, Markdown, PDF and given documents have no site around it.
HTML_ENGINES = frozenset({"blocks", "embedded", "trafilatura"})


class ExtractSettings(Settings):
    """How main text is found in pages."""

    engine: Literal["blocks", "trafilatura"] = "blocks"
    """engine that finds the main text: the learned classifier of blocks, or trafilatura, which takes longer"""
    cpu_seconds: ClassVar[float] = CPU_SECONDS
