"""Summaries by a language model: asked for with numbered passages, every sentence checked before it is shown."""
