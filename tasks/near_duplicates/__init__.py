"""Near-duplicates across articles, and leaks of test articles into the sources of training articles."""
