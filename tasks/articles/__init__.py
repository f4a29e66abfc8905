"""Articles from their source, and documents that a source contains itself."""
