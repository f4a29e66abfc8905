"""Records of WARC files, gathered into ranges: neighbours in one file cost one request."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tasks.crawl.remote_files import RemoteFiles
from tasks.crawl.replay import Capture
from tasks.crawl.safety import FetchError

# Reading a gap costs less than another request: at 5 MB a second, 256 kB take the 50 ms for which the default rate lets
# the next request wait.
GAP_BYTES = 256 << 10
_MOST_BYTES = 8 << 20  # of a range: so much is in memory for each connection


@dataclass(frozen=True)
class FileRange:
    """Records that lie close to each other in one file.

    Attributes:
        file: URL of the file.
        offset: first byte of the first record.
        length: bytes to the end of the last one.
        urls: the URLs of their pages, in order of offset.
    """

    file: str
    offset: int
    length: int
    urls: tuple[str, ...]


def gathered_ranges(wanted: Iterable[tuple[str, Capture]]) -> Iterator[FileRange]:
    """Yield the ranges that hold the captures of some URLs, by file and offset; every capture must have a length."""
    file, start, end, urls = "", 0, 0, list[str]()
    for url, capture in sorted(wanted, key=lambda pair: (pair[1].file, pair[1].offset, pair[0])):
        assert capture.length is not None
        last = capture.offset + capture.length
        joins = capture.file == file and capture.offset - end <= GAP_BYTES and max(end, last) - start <= _MOST_BYTES
        if urls and not joins:
            yield FileRange(file, start, end - start, tuple(urls))
        if not joins or not urls:
            file, start, end, urls = capture.file, capture.offset, last, []
        end = max(end, last)
        urls.append(url)
    if urls:
        yield FileRange(file, start, end - start, tuple(urls))


class RangeRecords:
    """Reads records, those of one range from memory; others, such as an older capture, by a request of their own."""

    def __init__(self, files: RemoteFiles, part: FileRange) -> None:
        """Ask for the range, if it has several records.

        If it cannot be read, every record is asked for by itself, so that a broken one costs no other its page.
        """
        self._files = files
        self._part = part
        self._data: bytes | None = None
        if len(part.urls) > 1:
            try:
                self._data = files.read(part.file, part.offset, part.length)
            except FetchError:
                return

    def read(self, url: str, offset: int, length: int) -> bytes:
        """Return a range of a file.

        Raises:
            FetchError: `archive_failed` or `archive_bad_answer`.
        """
        start = offset - self._part.offset
        if self._data is not None and url == self._part.file and 0 <= start <= len(self._data) - length:
            return self._data[start : start + length]
        return self._files.read(url, offset, length)
