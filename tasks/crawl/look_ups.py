"""Look-ups in an archive's index, kept on disk while a shard is made, so that a killed run repeats none of them."""

from datetime import datetime
from typing import Any

import pyarrow.fs as pafs

from tasks.crawl.answers import Answers
from tasks.engine.closing import Closing


class LookUps(Closing):
    """URL -> rows of `captures`, on disk (`tasks.crawl.answers`); a context manager, for one writer at a time."""

    def __init__(self, filesystem: pafs.FileSystem, directory: str, *, rows: int) -> None:
        """Read the existing look-ups; a torn last line is left out."""
        self._answers = Answers(filesystem, directory, rows=rows)

    def close(self) -> None:
        """Close the answers' file."""
        self._answers.close()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, url: str) -> list[dict[str, Any]] | None:
        """Return the rows of a URL that has been looked up, or None."""
        if url not in self._answers:
            return None
        return [{**row, "captured_at": _read(row["captured_at"])} for row in self._answers[url]]

    def add(self, url: str, rows: list[dict[str, Any]]) -> None:
        """Store the rows of a URL."""
        self._answers.add(url, [{**row, "captured_at": _written(row["captured_at"])} for row in rows])


def _written(date: datetime | None) -> str | None:
    return None if date is None else date.isoformat()


def _read(date: str | None) -> datetime | None:
    return None if date is None else datetime.fromisoformat(date)
