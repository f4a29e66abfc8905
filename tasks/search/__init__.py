"""Web searches for article titles: the sources that an article does not cite itself."""
