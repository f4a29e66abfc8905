"""Summaries scored: baselines, metrics, significance."""
