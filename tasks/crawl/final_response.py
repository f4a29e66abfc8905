"""What the standard library takes for an answer and is none, or is only a part of one. It skips of the interim answers
(RFC 9110, 15.2) only 100 and would take early hints for the final answer; it takes headers that end anywhere for all
headers; and it takes a chunk size that is no number for the end of the connection."""

import http.client
import re
from typing import BinaryIO

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}[ \t]*(;.*)?\r?\n?", re.DOTALL)  # RFC 9112, 7.1
_CHUNK_LINE_BYTES = 65_536


class CutHeadersError(http.client.HTTPException):
    """The connection ended inside the headers."""


class ChunkSizeError(http.client.HTTPException):
    """What should be the size of a chunk is no number, or has no end."""


class _HeaderLines:
    """The lines of a connection while headers are read."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._inside = False

    def readline(self, limit: int) -> bytes:
        """Return the next line. Raises CutHeadersError: it has no end, or the headers have none."""
        line = self._file.readline(limit)
        inside = self._inside or line.startswith(b"HTTP/")  # before that there is no answer
        if inside and len(line) < limit and not line.endswith(b"\n"):
            raise CutHeadersError
        self._inside = inside and line.strip(b"\r\n") != b""
        return line

    def close(self) -> None:
        """Close the connection's file."""
        self._file.close()


class FinalResponse(http.client.HTTPResponse):
    """The standard library's response, without these errors."""

    def begin(self) -> None:
        """Read status and headers."""
        file: BinaryIO = self.fp
        self.fp = _HeaderLines(file)  # type: ignore[assignment]
        try:
            super().begin()
        finally:
            if self.fp is not None:  # it is closed after a status line that is none
                self.fp = file  # type: ignore[assignment]

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]  # no public place reads it
            if not 100 < status < 200 or status == http.client.SWITCHING_PROTOCOLS:
                return version, status, reason
            http.client.parse_headers(self.fp)  # of the interim response; an endless series of these times out

    def _read_next_chunk_size(self) -> int:
        line = self.fp.readline(_CHUNK_LINE_BYTES)
        if not line:
            raise http.client.IncompleteRead(b"")
        if not _CHUNK_SIZE.fullmatch(line):
            self._close_conn()  # type: ignore[attr-defined]
            raise ChunkSizeError
        return int(line.partition(b";")[0], 16)
