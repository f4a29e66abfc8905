"""Encyclopedias that others have already parsed as a source: a row is a page, an article or refused with a reason."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tasks.sources.dump.rules import PageRules
from tasks.sources.dump.settings import WikitextSettings
from tasks.sources.encyclopedia import megawika, parsoid, structured
from tasks.sources.encyclopedia.entry import EncyclopediaPage
from tasks.sources.encyclopedia.files import Row, Rows, rows_in
from tasks.sources.encyclopedia.settings import EncyclopediaLayout, EncyclopediaSettings
from tasks.sources.files import file_with, json_object
from tasks.sources.malformed import parsed
from tasks.sources.source import Article, ArticleReason, Partition

FORMAT_VERSION = 2  # rises when the same rows would give other articles
_PARTITION_BYTES = 64_000_000
_SETTING = "source.encyclopedia.paths"
_COLUMNS = (*structured.COLUMNS, *parsoid.COLUMNS, *megawika.COLUMNS)  # of Parquet
_LAYOUTS: Mapping[EncyclopediaLayout, Callable[[Mapping[str, Any], WikitextSettings], EncyclopediaPage]] = {
    "structured": structured.structured_entry,
    "megawika": megawika.megawika_entry,
    "html": parsoid.parsoid_entry,
}


class MalformedRowError(ValueError):
    """A row that is not of its layout, in a file that is whole."""


class EncyclopediaSource:
    """Rows of files; which pages are articles is decided as for a dump."""

    name = "encyclopedia"
    gives_documents = False

    def __init__(
        self,
        settings: EncyclopediaSettings,
        wikitext: WikitextSettings,
        *,
        partition_bytes: int = _PARTITION_BYTES,
        malformed: int = 0,
    ) -> None:
        """Take the settings; no file is opened yet. Up to `malformed` rows of a file are refused."""
        self._malformed = malformed
        self._settings = settings
        self._wikitext = wikitext
        self._rules = PageRules(wikitext)
        self._partition_bytes = partition_bytes

    def partitions(self) -> list[Partition]:
        """Return parts of the files; a digest covers their bytes, the layout and the settings of wikitext. Raises
        ValueError also if a file's first row is not of the layout and no such row is allowed."""
        rows = self._rows()
        recipe = json.dumps([FORMAT_VERSION, self._settings.layout, self._wikitext.recipe()], sort_keys=True)
        parts = rows.partitions()
        firsts = {file_with(part, rows.files).path: part for part in reversed(parts)}
        for part in firsts.values():
            next(self.read(part), None)
        return [replace(part, digest=hashlib.sha256(f"{recipe}|{part.digest}".encode()).hexdigest()) for part in parts]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield an article for each row of a part; one that is not of the layout is refused (`malformed_row`)."""
        rows = self._rows()
        file = file_with(partition, rows.files)
        place = partition.start - file.start

        def named(number: int) -> str:
            return f"{file.path.name}, row {number} from byte {place}"

        def of_file() -> Iterator[Row]:
            for part in rows.partitions():
                if file_with(part, rows.files).path == file.path:
                    yield from rows.read(part)

        return parsed(
            enumerate(rows.read(partition), 1),
            lambda row: self._entry(row).article(self._rules, self._wikitext.licence),
            MalformedRowError,
            lambda number: f"{file.path.parent / named(number)} (source.encyclopedia.layout {self._settings.layout})",
            refused=lambda number: Article(named(number), "", (), drop_reason=ArticleReason.MALFORMED_ROW),
            allowed=self._malformed,
            every=of_file(),
        )

    def _rows(self) -> Rows:
        return rows_in(self._settings.paths, _SETTING, _COLUMNS, self._partition_bytes)

    def _entry(self, row: Row) -> EncyclopediaPage:
        """Return the page of a row. Raises MalformedRowError: the row is not of the layout."""
        try:
            content = json_object(row) if isinstance(row, bytes) else row
            return _LAYOUTS[self._settings.layout](content, self._wikitext)
        except (ValueError, RecursionError) as error:
            raise MalformedRowError(str(error)) from error
