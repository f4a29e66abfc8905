"""Scoring of summaries: baselines, metrics, significance."""
