"""Answers of a service that a shard has so far, kept while it runs: a killed one asks for none of them again."""

import json
import logging
import uuid
from pathlib import PurePosixPath
from typing import Any, Self

import pyarrow as pa
import pyarrow.fs as pafs

logger = logging.getLogger(__name__)

_SUFFIX = ".jsonl"


class Answers:
    """Question -> JSON-able answer, on disk line by line; a context manager, for one writer at a time.

    On an object store lines are there once their file is closed, which is after every `rows` answers.
    """

    def __init__(self, filesystem: pafs.FileSystem, directory: str, *, rows: int) -> None:
        """Read what is there; a torn last line is left out."""
        self._filesystem = filesystem
        self._directory = directory
        self._limit = rows
        self._sink: pa.NativeFile | None = None
        self._written = 0
        self._found: dict[str, Any] = {}
        selector = pafs.FileSelector(directory, allow_not_found=True)
        for info in sorted(filesystem.get_file_info(selector), key=lambda info: info.path):
            if info.path.endswith(_SUFFIX):
                self._read(info.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, question: str) -> bool:
        return question in self._found

    def __getitem__(self, question: str) -> Any:
        return self._found[question]

    def add(self, question: str, answer: Any) -> None:
        """Note an answer."""
        if self._sink is None:
            self._filesystem.create_dir(self._directory, recursive=True)
            name = f"{len(self._found):010d}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
            self._sink = self._filesystem.open_output_stream(str(PurePosixPath(self._directory, name)))
        self._sink.write(json.dumps([question, answer]).encode() + b"\n")
        self._sink.flush()
        self._found[question] = answer
        self._written += 1
        if self._written >= self._limit:
            self.close()

    def close(self) -> None:
        """Close the file being written; the next answer begins another."""
        if self._sink is not None:
            self._sink.close()
        self._sink, self._written = None, 0

    def _read(self, path: str) -> None:
        with self._filesystem.open_input_stream(path) as stream:
            lines = stream.read().split(b"\n")
        for line in lines:
            try:
                question, answer = json.loads(line)
            except ValueError:
                if line:
                    logger.warning("%s is torn: its whole lines are kept", path)
                continue
            self._found[question] = answer
