"""Atomic writes: a file is complete or absent, also after a crash, on a full disk, and on an object store."""

import errno
import glob
import hashlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow.fs as pafs

from storage.errors import StorageError, StorageFullError

_COPY_BYTES = 1 << 20


@contextmanager
def whole_file(
    filesystem: pafs.FileSystem, path: str, upload: Callable[[IO[bytes]], bool] = lambda _: False
) -> Iterator[IO[bytes]]:
    """Open a file for writing; it appears under its name only when the block ends without an error. `upload` is
    asked first whether it has put it on an object store. Raises StorageError: it could not be written."""
    is_local = isinstance(filesystem, pafs.LocalFileSystem)
    location = path if is_local else f"{path}, which is gathered in {tempfile.gettempdir()}"
    try:
        with (
            naming_a_full_disk(location),
            _local_sink(Path(path)) if is_local else _remote_sink(filesystem, path, upload) as sink,
        ):
            yield sink
    except OSError as error:
        raise StorageError(f"{path} could not be written: {error}") from error


class HashingSink:
    """Passes writes on to a file while hashing and counting them, for `pyarrow.PythonFile`."""

    def __init__(self, file: Any) -> None:
        self.file, self.closed = file, False
        self.digest, self.bytes = hashlib.sha256(), 0  # of what was written

    def write(self, data: bytes) -> int:
        """Write all of `data`."""
        self.file.write(data)
        self.digest.update(data)
        self.bytes += len(data)
        return len(data)

    def tell(self) -> int:
        """Return how much was written."""
        return self.bytes

    def flush(self) -> None:
        """Do nothing: the file is flushed by its owner."""

    def close(self) -> None:
        """Leave the file open for its owner."""
        self.closed = True


@contextmanager
def naming_a_full_disk(location: str) -> Iterator[None]:
    """Turn the system's error about a full disk into one that names `location` and says what to do. Raises
    StorageFullError: the disk, the quota or the size that a file may have is used up."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StorageFullError(
                f"no space left for {location}: free some or give another root, then run the same command again; "
                "nothing half-written was kept"
            ) from error
        raise


@contextmanager
def _local_sink(path: Path) -> Iterator[IO[bytes]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):  # of a writer that was killed
        leftover.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _remote_sink(filesystem: pafs.FileSystem, path: str, upload: Callable[[IO[bytes]], bool]) -> Iterator[IO[bytes]]:
    """Gather a file on local disk and upload it when the block has ended without an error. A pyarrow stream is
    completed when it is closed, also by an error: writing to it could leave a partial file. The upload runs in a
    thread, where Ctrl-C and SIGTERM raise nothing: raised between opening and closing the stream, they would replace
    the object by a part of the file or an empty one. It is waited for, and then the interruption takes effect."""
    spool = tempfile.TemporaryFile(prefix="wikisum-")  # noqa: SIM115 - the thread closes it, also after a second Ctrl-C

    def send() -> None:
        with spool:
            if not upload(spool):
                spool.seek(0)
                with filesystem.open_output_stream(path) as stream:
                    shutil.copyfileobj(spool, stream, _COPY_BYTES)

    try:
        yield spool
    except BaseException:
        spool.close()
        raise
    with ThreadPoolExecutor(1, thread_name_prefix="upload") as uploading:  # an exit meanwhile waits for it too
        uploading.submit(int).result()  # a thread whose start is interrupted would not be waited for
        uploading.submit(send).result()
