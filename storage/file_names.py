"""Parse the name of a file below a root; other people's names are not recognised."""

from dataclasses import dataclass
from typing import Literal

from storage.builds import is_build_name
from storage.schemas import DATASETS

_NESTED = ("models", "efficiency")  # FOLDER/NAME/KEY
_FLAT = ("reports", "tables")  # FOLDER/KEY
_FOLDERS = frozenset({*DATASETS, *_NESTED, *_FLAT, "builds", "registry", "spending"})
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class FileName:
    """What a file's name says about it."""

    # shard: a file of a stage, or its record; directory: a file of a model, report or table, or its record; build: a
    # manifest; scratch: a file of an unfinished shard; temporary: a file that is being written
    kind: Literal["shard", "directory", "build", "scratch", "temporary"]
    # how manifests name what the file belongs to: the shard's file, the directory or the build; else ""
    named: str = ""
    record: bool = False  # whether it is the record that marks the shard or directory as done
    damaged: bool = False  # whether it was set aside as damaged

    @property
    def trash(self) -> bool:
        """Whether it was set aside as damaged, or left by a killed writer."""
        return self.damaged or self.kind == "temporary"


def parse_file_name(name: str) -> FileName | None:
    """Return what a path relative to the root names, or None if this project gives no file such a name."""
    *folders, file = name.split("/")
    top = folders[0] if folders else ""
    if folders and top not in _FOLDERS:
        return None
    if _is_temporary(file) or (not folders and file.startswith(".probe-") and _is_hex(file[len(".probe-") :], 32)):
        return FileName("temporary")
    if top in DATASETS:
        return _shard_or_scratch(top, folders[1:], file)
    if top == "builds":
        return _manifest(file) if len(folders) == 1 else None
    depth = 2 if top in _NESTED else 1
    if top not in (*_NESTED, *_FLAT) or len(folders) < depth:
        return None
    directory = "/".join(folders[:depth])
    if len(folders) == depth:
        key = file.removesuffix(".json")
        return FileName("directory", f"{directory}/{key}", record=True) if key != file and _is_hex(key, 16) else None
    if not _is_hex(folders[depth], 16):
        return None
    return FileName("directory", f"{directory}/{folders[depth]}", damaged=file.endswith(".damaged"))


def _shard_or_scratch(stage: str, folders: list[str], file: str) -> FileName | None:
    if folders:
        return FileName("scratch", damaged=file.endswith(".damaged")) if _is_part(folders[0], ".scratch-") else None
    stem, _, ending = file.removesuffix(".damaged").rpartition(".")
    if not _is_part(stem, "part-") or ending not in ("parquet", "json"):
        return None
    damaged = file.endswith(".damaged")
    return FileName("shard", f"{stage}/{stem}.parquet", record=ending == "json" and not damaged, damaged=damaged)


def _manifest(file: str) -> FileName | None:
    damaged = file.endswith(".damaged")
    stem, _, ending = file.removesuffix(".damaged").rpartition(".")
    return FileName("build", stem, damaged=damaged) if ending == "json" and is_build_name(stem) else None


def _is_part(text: str, prefix: str) -> bool:
    """Whether a text is PREFIX, five digits, a dot and a key."""
    number, _, key = text.removeprefix(prefix).partition(".")
    return text.startswith(prefix) and len(number) == 5 and number.isdecimal() and _is_hex(key, 16)


def _is_temporary(file: str) -> bool:
    """Whether a file name is `.NAME.HEX.tmp`, as writers call what they have not finished."""
    name, _, digits = file.removesuffix(".tmp").rpartition(".")
    return file.endswith(".tmp") and name.startswith(".") and len(name) > 1 and _is_hex(digits, 32)


def _is_hex(text: str, digits: int) -> bool:
    return len(text) == digits and set(text) <= _HEX
