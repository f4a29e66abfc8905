"""Main text of pages: engines, the process that bounds them, and the stage `documents`."""

from tasks.extraction.documents import extract_documents
from tasks.extraction.settings import ExtractSettings

__all__ = ["ExtractSettings", "extract_documents"]
