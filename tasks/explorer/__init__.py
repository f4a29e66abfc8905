"""Look into a finished corpus: articles, their pages and paragraphs, read by row group, never a whole corpus."""
