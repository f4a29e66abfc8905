"""MediaWiki XML dumps as a source of articles."""
