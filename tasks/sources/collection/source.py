"""Published summarization corpora as a source: a row of a file is an article with its documents and its summary."""

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

from tasks.sources.collection.articles import article_of, split_of
from tasks.sources.collection.files import Row, parse_row, row_bytes, rows
from tasks.sources.collection.layouts import SOURCE, CollectionLayout, layout_of
from tasks.sources.collection.settings import CollectionSettings
from tasks.sources.files import file_state, matching_files
from tasks.sources.malformed import parsed
from tasks.sources.source import Article, ArticleReason, Partition

FORMAT_VERSION = 1  # rises when the same rows would give other articles
_ROWS = 1000  # of a partition, whose documents are in memory: 10 MB of news, 50 MB of WCEP
_FILE = 1 << 32  # partitions count rows through all files, as if each had so many


class CollectionSource:
    """Rows of files, in partitions of 1,000."""

    name = "collection"
    gives_documents = True

    def __init__(self, settings: CollectionSettings, *, partition_rows: int = _ROWS, malformed: int = 0) -> None:
        """Take the settings; no file is opened yet. Up to `malformed` rows of a file are refused."""
        self._malformed = malformed
        self._settings = settings
        self._partition_rows = partition_rows

    def partitions(self) -> list[Partition]:
        """Return ranges of rows; a digest covers the rows, the name of their file and the settings. Raises ValueError
        also if two files have one name, or a file is empty or lacks a column."""
        recipe = json.dumps([FORMAT_VERSION, self._settings.model_dump(exclude={"paths"})])
        found = []
        for number, path in enumerate(self._files()):
            layout = layout_of(self._settings)
            for start, stop, digest in _ranges(path, layout, recipe, self._partition_rows, _state(path)):
                name = f"{path} rows {start + 1}-{stop}"
                found.append(Partition(name, digest, number * _FILE + start, number * _FILE + stop))
        return found

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield the articles of some rows; one that is not of the layout is refused (`malformed_row`)."""
        number, start = divmod(partition.start, _FILE)
        path = self._files()[number]
        layout, split = layout_of(self._settings), split_of(path.name)
        stop = start + partition.stop - partition.start

        def article(numbered: tuple[int, Row]) -> Article:
            place, row = numbered
            return article_of(parse_row(row), layout, f"{path.name}:{place}", split, self._settings.paragraph_words)

        def refused(place: int) -> Article:
            name, reason = f"{path.name}, row {place}", ArticleReason.MALFORMED_ROW
            return Article(name, "", (), split=split, drop_reason=reason, id=f"{path.name}:{place}")

        return parsed(
            ((place, (place, row)) for place, row in enumerate(_whole(path, start, stop), start + 1)),
            article,
            ValueError,
            lambda place: f"{path}, row {place}",
            refused=refused,
            allowed=self._malformed,
            every=enumerate(rows(path), 1),
        )

    def _files(self) -> list[Path]:
        """Return the files in the order of the settings, those of a pattern sorted by name."""
        files = matching_files(self._settings.paths, "source.collection.paths", "data")
        names = [path.name for path in files]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"source.collection.paths has two files {twice!r}: expected different names, as rows are named by them"
            )
        return files


def _whole(path: Path, start: int, stop: int) -> Iterator[Row]:
    """Yield a range of rows. Raises ValueError: the file is damaged or has become shorter."""
    found = 0
    for row in islice(rows(path), start, stop):
        found += 1
        yield row
    if found < stop - start:
        raise ValueError(f"{path}: expected rows {start + 1} to {stop}: it has become shorter")


def _state(path: Path) -> tuple[tuple[int, int, int], ...]:
    """Return the states of a file and of what is parallel to it."""
    parallel = path.parent.glob(f"{path.name.split(f'.{SOURCE}')[0]}.*") if f".{SOURCE}" in path.name else [path]
    return tuple(file_state(file) for file in sorted(parallel))


@cache
def _ranges(
    path: Path, layout: CollectionLayout, recipe: str, size: int, _states: tuple[tuple[int, int, int], ...]
) -> tuple[tuple[int, int, str], ...]:
    """Return first row, one past the last, and digest of each partition of a file; once per process and state."""
    ranges = []
    start = stop = 0
    checked = False
    digest = hashlib.sha256()
    for stop, row in enumerate(rows(path), 1):
        checked = checked or _has_columns(path, row, layout)
        if stop - 1 == start:
            digest = hashlib.sha256(f"{recipe}|{path.name}|{start}".encode())
        digest.update(row_bytes(row))
        if stop - start == size:
            ranges.append((start, stop, digest.hexdigest()))
            start = stop
    if stop == 0:
        raise ValueError(f"{path}: expected rows, but it is empty")
    if stop > start:
        ranges.append((start, stop, digest.hexdigest()))
    return tuple(ranges)


def _has_columns(path: Path, row: Row, layout: CollectionLayout) -> bool:
    """Check the columns of the first row that has any; False for one that is malformed, which is found when it is read.
    Raises ValueError: a column is missing."""
    try:
        columns = parse_row(row)
    except ValueError:
        return False
    missing = [name for name in layout.needed if name not in columns]
    if missing:
        raise ValueError(f"{path}: expected a column {missing[0]!r}, got {', '.join(map(str, columns)) or 'none'}")
    return True
