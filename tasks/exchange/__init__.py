"""Corpora in other people's layouts, read and written."""
