"""Parse the name of a file below a root; other people's names are not recognised."""

import re
from dataclasses import dataclass
from typing import Literal

from storage.builds import is_build_name
from storage.schemas import DATASETS

_NESTED = ("models", "efficiency")  # FOLDER/NAME/KEY
_FLAT = ("reports", "tables")  # FOLDER/KEY
_FOLDERS = frozenset({*DATASETS, *_NESTED, *_FLAT, "builds", "registry", "spending"})
_KEY = re.compile("[0-9a-f]{16}")
_SCRATCH = re.compile(r"\.scratch-[0-9]{5}\.[0-9a-f]{16}")
_PART = re.compile(r"(part-[0-9]{5}\.[0-9a-f]{16})\.(parquet|json)")
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{32}\.tmp", re.DOTALL)  # as writers call what they have not finished
_PROBE = re.compile(r"\.probe-[0-9a-f]{32}")


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
    if _TEMPORARY.fullmatch(file) or (not folders and _PROBE.fullmatch(file)):
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
        return FileName("directory", f"{directory}/{key}", record=True) if key != file and _KEY.fullmatch(key) else None
    if not _KEY.fullmatch(folders[depth]):
        return None
    return FileName("directory", f"{directory}/{folders[depth]}", damaged=file.endswith(".damaged"))


def _shard_or_scratch(stage: str, folders: list[str], file: str) -> FileName | None:
    damaged = file.endswith(".damaged")
    if folders:
        return FileName("scratch", damaged=damaged) if _SCRATCH.fullmatch(folders[0]) else None
    part = _PART.fullmatch(file.removesuffix(".damaged"))
    if part is None:
        return None
    return FileName("shard", f"{stage}/{part[1]}.parquet", record=part[2] == "json" and not damaged, damaged=damaged)


def _manifest(file: str) -> FileName | None:
    stem, _, ending = file.removesuffix(".damaged").rpartition(".")
    known = ending == "json" and is_build_name(stem)
    return FileName("build", stem, damaged=file.endswith(".damaged")) if known else None
