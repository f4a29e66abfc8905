"""Main text of pages: extraction engines, the process that limits their time and memory, and the stage `documents`."""

from tasks.extraction.documents import extract_documents
from tasks.extraction.settings import ExtractSettings

__all__ = ["ExtractSettings", "extract_documents"]
