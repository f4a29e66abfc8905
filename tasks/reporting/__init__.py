"""The report of a build: what was made, how well, and at what cost."""
