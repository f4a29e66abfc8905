"""Articles from their source, and the documents that a source holds itself."""
