"""Wiring that several entry points share: which stage reads which."""
