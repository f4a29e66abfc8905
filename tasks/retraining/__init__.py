"""Keeping models fresh: a challenger a week, judged against the champion on a test split that never changes."""
