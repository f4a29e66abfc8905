"""Where articles come from: a room for each source, and what they have in common."""
