"""A MediaWiki dump as a source. Wikimedia's multistream dumps are many consecutive bz2 streams of some hundred pages
each, with an index of their offsets. So a byte range that begins and ends with streams can be read without the bytes
before it."""

import bz2
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tasks.sources.dump.articles import FORMAT_VERSION, ArticleReader
from tasks.sources.dump.pages import DumpPage, Site, read_pages, read_site
from tasks.sources.files import BLOCK, InputFile, blocks, digested, file_state, file_with, matching_files, unzipped
from tasks.sources.settings import DumpSettings, WikitextSettings
from tasks.sources.source import Article, Partition

_DECOMPRESSED_BLOCK = 1 << 20
_MULTISTREAM_NAME = re.compile(r"(.*-multistream)(\d*)\.xml(-p\d+p\d+)?\.bz2")
_STREAM_HEAD = b"BZh"


@dataclass(frozen=True)
class DumpFile(InputFile):
    """A dump file."""

    index: Path | None  # its multistream index, or None

    def partitions(self, size: int, salt: bytes) -> tuple[Partition, ...]:
        """Return the partitions, once per process until the file changes: ranges of about `size` bytes that begin and
        end with streams, or the whole file. A digest is of `salt`, of the bytes before the first stream with pages, and
        of the range's bytes. Raises ValueError: the index is malformed or belongs to another file."""
        changed = tuple(file_state(path) for path in (self.path, self.index) if path is not None)
        return _partitions(self, size, salt, changed)

    def cut(self, size: int, salt: bytes) -> Iterator[Partition]:
        """Yield the partitions, reading the file."""
        if self.index is None:
            yield from (replace(whole, name=str(self.path)) for whole in digested(self, [(0, self.size)], salt))
            return
        ranges = list(self._ranges(size))
        with self.path.open("rb") as stream:
            salt += stream.read(min(ranges[0][0], BLOCK))
            for start, _ in ranges:
                stream.seek(start)
                if stream.read(len(_STREAM_HEAD)) != _STREAM_HEAD:
                    raise ValueError(f"{self.index}: expected a bz2 stream at byte {start} of {self.path}, found none")
        yield from digested(self, ranges, salt)

    def xml(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the XML of a byte range in blocks. Raises ValueError: it is damaged or cut short."""
        location = f"{self.path} bytes {start}-{(self.size if stop is None else stop) - 1}"
        if self.path.suffix == ".gz":
            with unzipped(self.path) as whole:
                while block := whole.read(_DECOMPRESSED_BLOCK):
                    yield block
            return
        with self.path.open("rb") as stream:
            stream.seek(start)
            raw = blocks(stream, (self.size if stop is None else stop) - start)
            yield from _from_bz2(raw, location) if self.path.suffix == ".bz2" else raw

    def _ranges(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of bytes of the file, from the first stream with pages to the end."""
        assert self.index is not None
        start = None
        for offset in _stream_offsets(self.index):
            if offset >= self.size:
                raise ValueError(f"{self.index}: stream at byte {offset}, but {self.path} has only {self.size} bytes")
            if start is None:
                start = offset
            elif offset - start >= size:
                yield start, offset
                start = offset
        if start is None:
            raise ValueError(f"{self.index}: expected lines of offset:id:title, got none")
        yield start, self.size


@cache
def _partitions(file: DumpFile, size: int, salt: bytes, _state: tuple[tuple[int, ...], ...]) -> tuple[Partition, ...]:
    return tuple(file.cut(size, salt))


def find_files(settings: DumpSettings) -> list[DumpFile]:
    """Return the files in the order of the settings, those of a pattern sorted by name. Raises FileNotFoundError: a
    file is missing, or nothing matches a pattern; ValueError: no path was given, the numbers of indexes and files
    differ, or a file is of another kind."""
    paths = matching_files(settings.paths, "source.dump.paths", "MediaWiki XML")
    if settings.indexes and len(settings.indexes) != len(paths):
        raise ValueError(
            f"source.dump.indexes: expected one for each of {len(paths)} files, got {len(settings.indexes)}"
        )
    files: list[DumpFile] = []
    for number, path in enumerate(paths):
        _check(path)
        index = Path(settings.indexes[number]) if settings.indexes else _index_beside(path)
        if index is not None and not index.is_file():
            raise FileNotFoundError(f"no such file: {index} (source.dump.indexes)")
        files.append(DumpFile(path, files[-1].start + files[-1].size if files else 0, path.stat().st_size, index))
    return files


def _check(path: Path) -> None:
    if path.suffix in (".7z", ".zst", ".xz", ".zip"):
        raise ValueError(f"{path}: expected a plain, .bz2 or .gz XML file, got {path.suffix}")
    if path.stat().st_size == 0:
        raise ValueError(f"{path}: expected a MediaWiki export, got an empty file")


def _index_beside(path: Path) -> Path | None:
    match = _MULTISTREAM_NAME.fullmatch(path.name)
    if match is None:
        return None
    index = path.with_name(f"{match[1]}-index{match[2]}.txt{match[3] or ''}.bz2")
    return index if index.is_file() else None


def _stream_offsets(index: Path) -> Iterator[int]:
    """Yield the offsets of streams from lines of offset:id:title, ascending; one line is in memory at a time. Raises
    ValueError: a line is malformed, or the file damaged."""
    last, written = -1, b""
    with bz2.open(index, "rb") if index.suffix == ".bz2" else index.open("rb") as lines:
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                offset = line[: line.find(b":")]
                if offset == written:
                    continue  # the pages of one stream have the same offset
                if not offset.isdigit() or line.count(b":") < 2 or int(offset) <= last:
                    raise ValueError(
                        f"{index}, line {number}: expected offset:id:title, offsets rising, got {line[:80]!r}"
                    )
                last, written = int(offset), offset
                yield last
        except (OSError, EOFError) as error:
            raise ValueError(f"{index}, line {number + 1}: expected a whole bz2 file, but {error}") from error


def _from_bz2(raw: Iterator[bytes], location: str) -> Iterator[bytes]:
    decompressor = bz2.BZ2Decompressor()
    consumed = 0
    try:
        for block in raw:
            data = block
            while data or not (decompressor.needs_input or decompressor.eof):
                if decompressor.eof:
                    decompressor = bz2.BZ2Decompressor()
                yield decompressor.decompress(data, _DECOMPRESSED_BLOCK)
                data = decompressor.unused_data
            consumed += len(block)
    except OSError as error:
        raise ValueError(f"{location}: damaged bz2 stream near byte {consumed} of the range: {error}") from error
    if not decompressor.eof:
        raise ValueError(f"{location}: the bz2 stream is cut short after {consumed} bytes")


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
