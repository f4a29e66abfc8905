"""Across articles: near-duplicates, and what of the test articles is in the sources of training articles."""
