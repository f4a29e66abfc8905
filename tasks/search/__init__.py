"""Web searches for article titles: sources that an article does not cite itself."""
