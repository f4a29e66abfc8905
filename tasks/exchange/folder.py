"""The folder of an export: recognised when the command is run again, so that finished files are kept and no other
folder is touched. While an export is unfinished, `.unfinished` has its description and what is done; at the end
`export.json` describes it and lists its files. And the card in it: Markdown with a YAML header."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from storage.directories import DirectoryRecord
from storage.errors import CorruptShardError
from storage.sealed import seal, unseal
from storage.store import Store
from storage.writing import HashingSink
from tasks.reporting.page import templates

DONE = "export.json"
_UNFINISHED = ".unfinished"
_BEGUN = f"{_UNFINISHED}/{DONE}"
Files = Mapping[str, Mapping[str, Any]]  # name -> its `bytes` and `sha256`, and further facts


class ExportFolder:
    """An export that is being written, or is finished."""

    def __init__(self, target: Store, description: Mapping[str, Any]) -> None:
        """Take the folder and the recipe of the export's content, JSON-able; nothing is read or written yet."""
        self.target = target
        self._description = json.loads(json.dumps(description))

    def check(self) -> None:
        """Check that the folder is empty or has this export. Raises ValueError: it holds something else."""
        names = self.target.names()
        if not names:
            return
        result = next((self._read(name) for name in (_BEGUN, DONE) if self.target.exists(name)), None)
        if result is None:
            raise ValueError(f"{self.target.root} holds {names[0]!r} and no export: expected an empty or new folder")
        changed = [name for name, value in self._description.items() if result.get(name) != value]
        if changed:
            raise ValueError(
                f"{self.target.root} holds an export with {changed[0]} {result.get(changed[0])!r}, not "
                f"{self._description[changed[0]]!r}: give another folder"
            )

    def begin(self) -> None:
        """Mark the folder as this export's, first of all. Raises ValueError: it holds something else; StorageError."""
        self.check()
        self.target.check_writable()
        if not self.target.exists(DONE):
            self.target.write_bytes(_BEGUN, seal(self._description))

    @property
    def files(self) -> Files | None:
        """The files of the finished export with their bytes; None if it is unfinished or a file is gone."""
        if not self.target.exists(DONE):
            return None
        files: Files = self._read(DONE)["files"]
        return files if self._holds(files) else None

    def step(self, name: str) -> Mapping[str, Any] | None:
        """Return what is recorded of a finished step, None if it is not finished or one of its `files` is gone."""
        path = f"{_UNFINISHED}/{name}.json"
        if not self.target.exists(path):
            return None
        try:
            record = unseal(self.target.read_bytes(path))
            return record if self._holds(record["files"]) else None
        except (ValueError, KeyError, TypeError):
            return None

    def finish_step(self, name: str, record: Mapping[str, Any]) -> None:
        """Record a step as finished, its `files` among it; write them first."""
        self.target.write_bytes(f"{_UNFINISHED}/{name}.json", seal(record))

    def finish(self, files: Files, **facts: Any) -> None:
        """Record the export as finished; write all files first."""
        self.target.write_bytes(DONE, seal({**self._description, **facts, "files": files}))
        self.target.delete_folder(_UNFINISHED)

    def write(self, name: str, data: bytes) -> dict[str, Any]:
        """Write a file and return its entry in `files`."""
        with self.target.writing(name) as sink:
            hashing = HashingSink(sink)
            hashing.write(data)
        return {"bytes": hashing.bytes, "sha256": hashing.digest.hexdigest()}

    def copy(self, store: Store, record: DirectoryRecord, source: str, name: str) -> dict[str, Any]:
        """Copy a file of a published directory in pieces, check it, and return its entry in `files`. Raises
        CorruptShardError: the file is gone or its bytes are not those of the record."""
        path = f"{record.path}/{source}"
        try:
            with store.reading(path) as stream, self.target.writing(name) as sink:
                hashing = HashingSink(sink)
                shutil.copyfileobj(stream, hashing)
                if hashing.digest.hexdigest() != record.files.get(source):
                    raise CorruptShardError(path, "its bytes do not match its record")
        except FileNotFoundError as error:
            raise CorruptShardError(path, "the file is gone") from error
        return {"bytes": hashing.bytes, "sha256": hashing.digest.hexdigest()}

    def _holds(self, files: Files) -> bool:
        sizes: dict[str, int] = {}
        for folder in {name.rpartition("/")[0] for name in files}:
            inside = self.target.sizes(folder).items()
            sizes |= {f"{folder}/{name}".lstrip("/"): size for name, size in inside}
        return all(sizes.get(name) == file["bytes"] for name, file in files.items())

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return unseal(self.target.read_bytes(name))
        except ValueError as error:
            raise ValueError(f"{self.target.root}/{name} does not describe an export: {error}") from error


def render(template: str, **values: Any) -> str:
    """Return a template of this folder filled with values; the caller escapes text from outside."""
    return templates(Path(__file__).parent, escaped=False).get_template(template).render(**values)


def render_card(template: str, header: Mapping[str, Any], **values: Any) -> str:
    """Return a card from a template, below a YAML header."""
    head = yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True)
    return f"---\n{head}---\n\n{render(template, **values)}"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts that are Markdown already."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
