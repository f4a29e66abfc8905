"""Whether a passage says a sentence: a verifier, what it learns from, and its default weights."""
