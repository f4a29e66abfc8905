"""Beam search over any summarizer, what may be blocked, and what else may count in a score."""
