"""Summaries of a user's pages for people who wait: the command, and the local page with the corpus explorer."""
