"""A MediaWiki dump as a source."""

import json
from collections.abc import Iterator

from tasks.sources.dump.articles import FORMAT_VERSION, ArticleReader
from tasks.sources.dump.files import DumpFile, find_files
from tasks.sources.dump.pages import DumpPage, Site, read_pages, read_site
from tasks.sources.dump.settings import DumpSettings, WikitextSettings
from tasks.sources.files import file_with
from tasks.sources.source import Article, Partition

_PARTITION_BYTES = 32_000_000  # compressed; a partition ends with the bz2 stream that passes them


class DumpSource:
    """Articles of MediaWiki XML files; a multistream file with an index is read in byte ranges."""

    name = "dump"
    gives_documents = False

    def __init__(
        self, settings: DumpSettings, wikitext: WikitextSettings, *, partition_bytes: int = _PARTITION_BYTES
    ) -> None:
        self._settings = settings
        self._wikitext = wikitext
        self._partition_bytes = partition_bytes

    def partitions(self) -> list[Partition]:
        """Return byte ranges; a digest covers the bytes and the settings of wikitext. Raises ValueError also if an
        index does not fit its file."""
        recipe = json.dumps([FORMAT_VERSION, self._wikitext.recipe()], sort_keys=True).encode()
        return [
            partition
            for file in find_files(self._settings)
            for partition in file.partitions(self._partition_bytes, recipe)
        ]

    def read(self, partition: Partition) -> Iterator[Article]:
        """Yield an article for each page of a partition, refused ones included."""
        reader, pages = self.open(partition)
        return (reader.article(page) for page in pages)

    def open(self, partition: Partition) -> tuple[ArticleReader, Iterator[DumpPage]]:
        """Return a reader for a partition's wiki, and the pages of the partition."""
        file = file_with(partition, find_files(self._settings))
        reader = ArticleReader(_site(file), self._wikitext)
        start, stop = partition.start - file.start, partition.stop - file.start
        pages = read_pages(file.xml(start, stop), location=partition.name, fragment=file.index is not None)
        return reader, pages


def _site(file: DumpFile) -> Site:
    return read_site(file.xml(), location=str(file.path))
