"""Parse the name of a file below a root; other people's names are not recognised."""

import re
from dataclasses import dataclass
from typing import Literal

from storage.inventory import BUILD_NAME
from storage.schemas import DATASETS

_STAGE, _KEY = f"(?:{'|'.join(DATASETS)})", "[0-9a-f]{16}"
_FOLDER = rf"(?:{_STAGE}|models|efficiency|reports|tables|builds|registry|spending)"
# as writers call what they have not finished, and the root's probe
_TEMPORARY = re.compile(rf"(?:{_FOLDER}/(?:.*/)?)?\.[^/]+\.[0-9a-f]{{32}}\.tmp|\.probe-[0-9a-f]{{32}}", re.DOTALL)
_SHARD = re.compile(rf"({_STAGE}/part-[0-9]{{5}}\.{_KEY})\.(parquet|json)(?:\.damaged)?")
_SCRATCH = re.compile(rf"{_STAGE}/\.scratch-[0-9]{{5}}\.{_KEY}/.*", re.DOTALL)
_BUILD = re.compile(rf"builds/({BUILD_NAME})\.json(?:\.damaged)?")
_DIRECTORY = re.compile(rf"((?:(?:models|efficiency)/[^/]*|reports|tables)/{_KEY})(?:/.*|(\.json))", re.DOTALL)


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
    damaged = name.endswith(".damaged")
    if _TEMPORARY.fullmatch(name):
        return FileName("temporary")
    if match := _SHARD.fullmatch(name):
        return FileName("shard", f"{match[1]}.parquet", record=match[2] == "json" and not damaged, damaged=damaged)
    if match := _DIRECTORY.fullmatch(name):
        return FileName("directory", match[1], record=match[2] is not None, damaged=damaged)
    if match := _BUILD.fullmatch(name):
        return FileName("build", match[1], damaged=damaged)
    return FileName("scratch", damaged=damaged) if _SCRATCH.fullmatch(name) else None
