"""Look-ups in an archive's index that a shard has made so far, kept while it runs: a killed one repeats none."""

import json
import logging
import uuid
from datetime import datetime
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.fs as pafs

logger = logging.getLogger(__name__)

_SUFFIX = ".jsonl"


class LookUps:
    """URL -> rows of `captures`, on disk line by line; a context manager, for one writer at a time.

    On an object store lines are there once their file is closed, which is after every `rows` look-ups.
    """

    def __init__(self, filesystem: pafs.FileSystem, directory: str, *, rows: int) -> None:
        """Read what is there; a torn last line is left out."""
        self._filesystem = filesystem
        self._directory = directory
        self._limit = rows
        self._sink: pa.NativeFile | None = None
        self._written = 0
        self._found: dict[str, list[dict[str, Any]]] = {}
        selector = pafs.FileSelector(directory, allow_not_found=True)
        for info in sorted(filesystem.get_file_info(selector), key=lambda info: info.path):
            if info.path.endswith(_SUFFIX):
                self._read(info.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, url: str) -> list[dict[str, Any]] | None:
        """Return the rows of a URL that has been looked up, or None."""
        return self._found.get(url)

    def add(self, url: str, rows: list[dict[str, Any]]) -> None:
        """Note the rows of a URL."""
        if self._sink is None:
            self._filesystem.create_dir(self._directory, recursive=True)
            name = f"{len(self._found):010d}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
            self._sink = self._filesystem.open_output_stream(str(PurePosixPath(self._directory, name)))
        self._sink.write(json.dumps({"url": url, "rows": rows}, default=datetime.isoformat).encode() + b"\n")
        self._sink.flush()
        self._found[url] = rows
        self._written += 1
        if self._written >= self._limit:
            self.close()

    def close(self) -> None:
        """Close the file being written; the next row begins another."""
        if self._sink is not None:
            self._sink.close()
        self._sink, self._written = None, 0

    def _read(self, path: str) -> None:
        with self._filesystem.open_input_stream(path) as stream:
            lines = stream.read().split(b"\n")
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                if line:
                    logger.warning("%s is torn: its whole lines are kept", path)
                continue
            for row in entry["rows"]:
                date = row["captured_at"]
                row["captured_at"] = None if date is None else datetime.fromisoformat(date)
            self._found[entry["url"]] = entry["rows"]
