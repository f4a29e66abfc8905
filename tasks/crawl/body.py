"""A response body while it arrives: in memory while it is small, then in a temporary file. Thirty-two connections with
ten megabytes each, twice while blocks are joined, would take most of a shard's memory; so a large body is in memory
only while its row is made."""

import os
import tempfile

_IN_MEMORY_BYTES = 256 << 10


class Body:
    """Bytes that are added block by block."""

    def __init__(self) -> None:
        self.bytes = 0  # how many there are
        # Deleted at the latest with this object.
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, prefix="wikisum-")  # noqa: SIM115

    def add(self, block: bytes) -> None:
        """Add a block. Raises OSError: the temporary folder is full."""
        self.bytes += len(block)
        self._file.write(block)

    def read(self, count: int | None = None) -> bytes:
        """Return the first bytes, or all. Raises OSError: the temporary folder is full."""
        self._file.seek(0)
        data = self._file.read(-1 if count is None else count)
        self._file.seek(0, os.SEEK_END)
        return data

    def cut(self, count: int) -> "Body":
        """Return the first bytes as a body of their own."""
        first = Body()
        first.add(self.read(count))
        return first
