"""MediaWiki XML dumps as a source of articles."""

from tasks.sources.dump.settings import DumpSettings, WikitextSettings
from tasks.sources.dump.source import DumpSource

__all__ = ["DumpSettings", "DumpSource", "WikitextSettings"]
