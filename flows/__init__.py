"""Wiring only: which stage reads which. What a stage does stands in `tasks`."""
