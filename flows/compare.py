"""Builds of a root beside each other, in the terminal and as a page."""

from collections.abc import Sequence
from pathlib import Path

from storage.root import check_root
from storage.store import Store
from tasks.reporting.page import page, summary
from tasks.reporting.side_by_side import compared_builds


def run(root: str, builds: Sequence[str], to: Path) -> None:
    """Print the tables and write the page. Raises ValueError or StorageError: these builds cannot be compared."""
    store = Store(root)
    check_root(store)
    sections = compared_builds(store, builds)
    to.write_text(page("Builds beside each other", sections), encoding="utf-8")
    print(f"{summary(block for section in sections for block in section.blocks)}\npage: {to}")
