"""Answers of a service, kept on disk while a shard is made, so that a killed run asks for none again."""

import json
import logging
import uuid
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs

from tasks.engine.closing import Closing

logger = logging.getLogger(__name__)

_SUFFIX = ".jsonl"


class Answers(dict[str, Any], Closing):
    """Question -> JSON-able answer, those given to `add` on disk line by line; a context manager, for one writer at a
    time. An object store has the lines only once their file is closed, which happens after every `rows` answers."""

    def __init__(self, filesystem: pafs.FileSystem, directory: str, *, rows: int) -> None:
        """Read the existing answers; a torn last line is left out."""
        self._filesystem = filesystem
        self._directory = directory
        self._limit = rows
        self._sink: pa.NativeFile | None = None
        self._written = 0
        selector = pafs.FileSelector(directory, allow_not_found=True)
        for info in sorted(filesystem.get_file_info(selector), key=lambda info: info.path):
            if info.path.endswith(_SUFFIX):
                with filesystem.open_input_stream(info.path) as stream:
                    lines = stream.read().split(b"\n")
                for line in filter(None, lines):
                    try:
                        question, answer = json.loads(line)
                    except ValueError:
                        logger.warning("%s is torn: its complete lines are kept", info.path)
                    else:
                        self[question] = answer

    def add(self, question: str, answer: Any) -> None:
        """Store an answer."""
        if self._sink is None:
            self._filesystem.create_dir(self._directory, recursive=True)
            name = f"{len(self):010d}-{uuid.uuid4().hex[:8]}{_SUFFIX}"
            self._sink = self._filesystem.open_output_stream(str(PurePosixPath(self._directory, name)))
        self._sink.write(json.dumps([question, answer]).encode() + b"\n")
        self._sink.flush()
        self[question] = answer
        self._written += 1
        if self._written >= self._limit:
            self.close()

    def close(self) -> None:
        """Close the file being written; the next answer begins another."""
        if self._sink is not None:
            self._sink.close()
        self._sink, self._written = None, 0
