"""Labels and features of paragraphs, the ranker, and ranked paragraphs (Liu & Lapata 2019, sec. 3.1)."""
