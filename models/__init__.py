"""Summarizers and the ranker in PyTorch: this room knows nothing of flows, tasks and storage."""
