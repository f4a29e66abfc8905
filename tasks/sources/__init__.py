"""Sources of articles: one module or package for each, and what they have in common."""
