"""Other people's ranked WikiSum: `.pt` shards of Liu & Lapata and GraphSum's JSON to `examples`, and back."""

from tasks.exchange.ranked_wikisum.exporting import ExportSettings, export_corpus
from tasks.exchange.ranked_wikisum.importing import Imported, ImportSettings, import_corpus, paragraphs_of

__all__ = ["ExportSettings", "ImportSettings", "Imported", "export_corpus", "import_corpus", "paragraphs_of"]
