"""One archive file: detect its compression and read records by their offset.

Archives are compressed record by record (gzip members, or zstd frames that may share the dictionary at the file's
start), so that a record can be read from its start. Some files are one stream over many records, or have members that
do not end where records do. These are decoded once to a scratch file in the system's temporary folder (TMPDIR), and
offsets refer to that file. Only one block is in memory at a time, however large the file or hostile its compression."""

import io
import logging
import re
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from warcio.archiveiterator import ArchiveIterator  # FastWARC 2.0 reads no ARC files, and ends at a truncated record

from storage.filesystems import open_filesystem
from tasks.engine.closing import Closing

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

logger = logging.getLogger(__name__)

_BLOCK = 65_536
_SCAN_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
# The skippable frame that holds a dictionary, compressed itself or not (IIPC's WARC compression with zstd, 0.1).
_DICTIONARY = b"\x5d\x2a\x4d\x18"
_MAX_DICTIONARY_BYTES = 64 << 20
_STARTS = {"gzip": rb"\x1f\x8b\x08[\x00-\x1f]", "zstd": rb"\x28\xb5\x2f\xfd", "none": rb"(?<=\n)WARC/[01]\.\d"}


class DamagedError(Exception):
    """Compressed data that cannot be decoded."""


class ScratchFullError(Exception):
    """The decoded copy of an archive exceeds its limit."""


def open_archive(file: str) -> BinaryIO:
    """Open a file for reading at any offset: a local path, or a URI of any pyarrow filesystem; raises OSError."""
    if "://" in file:
        filesystem, path = open_filesystem(file)
        # Buffered, because every read of an object store is a request.
        return io.BufferedReader(filesystem.open_input_file(path), _SCAN_BLOCK)
    return Path(file).open("rb", buffering=_SCAN_BLOCK)


class OpenArchive(Closing):
    """An open archive file; a context manager."""

    def __init__(self, file: str, max_decoded_bytes: int) -> None:
        """Open a path or URI; a decoded copy has at most so many bytes. Raises OSError, or DamagedError."""
        self.name = file
        self._stream = open_archive(file)
        self._limit = max_decoded_bytes
        self._decoded: BinaryIO | None = None
        self._dictionary: zstd.ZstdDict | None = None
        try:
            start = self._stream.read(4)
            zipped = start.startswith(_ZSTD) or _SKIPPABLE.match(start) is not None
            self.compression = "gzip" if start.startswith(_GZIP) else "zstd" if zipped else "none"
            if start == _DICTIONARY:
                self._dictionary = _read_dictionary(self._stream)
        except BaseException:
            self._stream.close()
            raise

    def close(self) -> None:
        """Close the file and delete its decoded copy."""
        self._stream.close()
        if self._decoded is not None:
            self._decoded.close()

    def records(self, offset: int, *, decoded: bool) -> ArchiveIterator:
        """Return the records from an offset, of the file or decoded copy, on; if compressed, of that member."""
        if self.compression != "none" and not decoded:
            return records_of(self.member(offset))
        stream = self.decoded() if decoded else self._stream
        stream.seek(offset)
        return records_of(stream)

    def member(self, offset: int) -> "Member":
        """Return the gzip member or zstd frame at an offset."""
        if self.compression == "gzip":
            return Member(self._stream, offset, _GzipDecompressor())
        return Member(self._stream, offset, zstd.ZstdDecompressor(zstd_dict=self._dictionary))

    def next_start(self, offset: int, *, decoded: bool) -> int | None:
        """Return the offset at or after `offset` where a record or a member may begin, or None."""
        pattern = re.compile(_STARTS["none" if decoded else self.compression])
        stream = self.decoded() if decoded else self._stream
        overlap = 16
        while True:
            stream.seek(max(offset - 1, 0))  # one byte back, for the line end before a record
            block = stream.read(_SCAN_BLOCK)
            match = pattern.search(block, min(offset, 1))
            if match is not None:
                return max(offset - 1, 0) + match.start()
            if len(block) <= overlap:
                return None
            offset += len(block) - overlap

    def decoded(self) -> BinaryIO:
        """Return the decoded copy without damaged parts. Raises ScratchFullError: it exceeds its limit."""
        if self._decoded is None:
            logger.info("%s is not compressed record by record: decoding a copy of it for this run", self.name)
            copy = tempfile.TemporaryFile(prefix="wikisum-archive-")  # noqa: SIM115 - closed with the archive
            try:
                for block in self._content():
                    if copy.tell() + len(block) > self._limit:
                        raise ScratchFullError(f"more than {self._limit:,} bytes")
                    copy.write(block)
            except BaseException:
                copy.close()
                raise
            self._decoded = cast(BinaryIO, copy)
        return self._decoded

    def _content(self) -> Iterator[bytes]:
        start: int | None = 0
        while start is not None:
            position, member = start, self.member(start)
            try:
                while block := member.read(_BLOCK):
                    yield block
                start = member.end
            except DamagedError as error:
                logger.warning("%s is damaged at byte %d: %s", self.name, position, error)
                start = self.next_start(position + 1, decoded=False)


def records_of(stream: "BinaryIO | Member") -> ArchiveIterator:
    """Return the records in a member, or from the current position of another stream."""
    buffered = io.BufferedReader(stream, _BLOCK) if isinstance(stream, Member) else stream
    return ArchiveIterator(buffered, no_record_parse=True, arc2warc=True)


class _GzipDecompressor:
    """The decoder of one gzip member, with the interface of the standard library's bz2 and zstd decompressors."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, size: int) -> bytes:
        decoded = self._decoder.decompress(self._decoder.unconsumed_tail + data, size)
        self.needs_input = not self._decoder.unconsumed_tail and len(decoded) < size
        return decoded


_Decoder = _GzipDecompressor | zstd.ZstdDecompressor


class Member(io.RawIOBase):
    """The content of one gzip member or zstd frame, decoded as it is read."""

    def __init__(self, stream: BinaryIO, offset: int, decoder: _Decoder, limit: int | None = None) -> None:
        super().__init__()
        self._left = limit
        self._stream = stream
        self._place = offset
        self._decoder = decoder
        self.cut = False  # whether the file ended within the member
        self._skip()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Decode into a buffer; 0 at the end. Raises DamagedError: it cannot be decoded, or exceeds its limit."""
        while not (self._decoder.eof or self.cut):
            data = b""
            if self._decoder.needs_input:
                self._stream.seek(self._place)
                data = self._stream.read(_BLOCK)
                self._place += len(data)
                self.cut = not data
            try:
                decoded = self._decoder.decompress(data, len(buffer))
            except (zlib.error, zstd.ZstdError) as error:
                raise DamagedError(error) from error
            if self._left is not None:
                self._left -= len(decoded)
                if self._left < 0:
                    raise DamagedError("it decodes to more bytes than allowed")
            if decoded:
                buffer[: len(decoded)] = decoded
                return len(decoded)
        return 0

    @property
    def end(self) -> int | None:
        """Offset after the member once all of it has been read; None at the end of the file."""
        if not self._decoder.eof:
            return None
        offset = self._place - len(self._decoder.unused_data)
        self._stream.seek(offset)
        return offset if self._stream.read(1) else None

    def _skip(self) -> None:
        while True:
            self._stream.seek(self._place)
            head = self._stream.read(8)
            if len(head) < 8 or not _SKIPPABLE.match(head):
                return
            self._place += 8 + struct.unpack("<I", head[4:])[0]


def gzip_member(stream: BinaryIO, *, limit: int) -> Member:
    """Return the gzip member at the start of a stream; reading more than `limit` bytes of it is a DamagedError."""
    return Member(stream, 0, _GzipDecompressor(), limit)


def _read_dictionary(stream: BinaryIO) -> "zstd.ZstdDict":
    """Read the dictionary after its magic number. Raises DamagedError: there is none that can be read."""
    size = struct.unpack("<I", stream.read(4).ljust(4, b"\0"))[0]
    if size > _MAX_DICTIONARY_BYTES:
        raise DamagedError(f"a dictionary of {size:,} bytes; expected at most {_MAX_DICTIONARY_BYTES:,}")
    data = stream.read(size)
    try:
        if data.startswith(_ZSTD):
            data = zstd.ZstdDecompressor().decompress(data, _MAX_DICTIONARY_BYTES)
        return zstd.ZstdDict(data)
    except (ValueError, EOFError, zstd.ZstdError) as error:
        raise DamagedError(f"no dictionary: {error}") from error
