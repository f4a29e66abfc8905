"""Keep models fresh: a new challenger every week, judged against the champion on a test split that never changes."""
