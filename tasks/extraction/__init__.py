"""Main text of pages: engines, the process that bounds them, and the stage `documents`."""
