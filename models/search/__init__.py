"""Beam search for any summarizer, with blocking of tokens and additional score terms."""
