"""Near-duplicates across articles, and what of the test articles is in the sources of training articles."""
