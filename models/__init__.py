"""Summarizers and the ranker in PyTorch. This package imports nothing from flows, tasks or storage."""
