"""Files that are there whole or not at all: also after a crash, on a full disk, and on an object store."""

import errno
import glob
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow.fs as pafs

from storage.errors import StorageError, StorageFullError

_COPY_BYTES = 1 << 20


@contextmanager
def whole_file(filesystem: pafs.FileSystem, path: str) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when the block ends without an error.

    Raises:
        StorageError: it could not be written.
    """
    is_local = isinstance(filesystem, pafs.LocalFileSystem)
    try:
        with _local_sink(Path(path)) if is_local else _remote_sink(filesystem, path) as sink:
            yield sink
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            place = path if is_local else f"{path}, which is gathered in {tempfile.gettempdir()}"
            raise StorageFullError(
                f"no space left for {place}: free some or give another root, then run the same command again; "
                "nothing half-written was kept"
            ) from error
        raise StorageError(f"{path} could not be written: {error}") from error


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
        _fsync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _remote_sink(filesystem: pafs.FileSystem, path: str) -> Iterator[IO[bytes]]:
    """Gather a file on local disk and upload it when the block has ended well.

    A pyarrow stream is completed when it is closed, also by an error: writing through would show half an object.
    """
    with tempfile.TemporaryFile(prefix="wikisum-") as spool:
        yield spool
        spool.seek(0)
        with filesystem.open_output_stream(path) as upload:
            shutil.copyfileobj(spool, upload, _COPY_BYTES)


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
