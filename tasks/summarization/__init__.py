"""Vocabulary, graphs, examples, the training of summarizers, and decoding."""
