"""Labels and features of paragraphs, the ranker, and the paragraphs in its order (Liu & Lapata 2019, sec. 3.1)."""
