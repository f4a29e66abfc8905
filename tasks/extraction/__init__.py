"""Main text of pages: extraction engines, the process that limits their time and memory, and the stage `documents`."""
