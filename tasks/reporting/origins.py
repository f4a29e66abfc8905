"""Where a build's data comes from: stage -> shards -> digests -> build, read from the records of shards and models.
Nothing is drawn from the code: a stage reads another if one of its records names a digest of the other's shards. So the
picture proves what a build was made of, also years later and for builds of other versions of the code."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.directories import DirectoryRecord
from storage.recipes import ShardRecord

_DIGITS = 12  # of a digest that people compare


@dataclass(frozen=True)
class Origin:
    """A stage, model or report of a build."""

    name: str
    shards: int  # number of shards; 0 for a directory
    rows: int | None  # rows of all shards; None for a directory
    digest: str  # digest of all its content: of the digests of its shards, or of the directory's files
    reads: tuple[str, ...]  # what it was made from
    depth: int  # longest way from a stage that reads nothing; a build is made in this order
    code: tuple[str, ...]  # commits of the code that made it


def trace(stages: Mapping[str, Sequence[ShardRecord]], directories: Mapping[str, DirectoryRecord]) -> list[Origin]:
    """Return the stages and directories of a build in the order in which they can be made."""
    whole: dict[str, set[str]] = {}  # digest -> what has it
    for name, records in stages.items():
        for record in records:
            if record.written.rows:  # empty shards of different stages are equal
                whole.setdefault(record.written.digest, set()).add(name)
    for name, directory in directories.items():
        whole.setdefault(directory.digest, set()).add(name)
    reads = {name: _reads(name, _widest(records), stages, whole) for name, records in stages.items() if records}
    reads |= {name: _sources(name, directory.inputs, whole) for name, directory in directories.items()}
    depths = _depths(reads)
    origins = []
    for name, sources in reads.items():
        records = stages.get(name, ())
        digests = "".join(record.written.digest for record in records)
        origins.append(
            Origin(
                name=name,
                shards=len(records),
                rows=sum(record.written.rows for record in records) if records else None,
                digest=(hashlib.sha256(digests.encode()).hexdigest() if records else directories[name].digest)[
                    :_DIGITS
                ],
                reads=tuple(sorted(sources, key=lambda other: (depths[other], other))),
                depth=depths[name],
                code=_code(records or [directories[name]]),
            )
        )
    return sorted(origins, key=lambda origin: (origin.depth, origin.name))


def _widest(records: Sequence[ShardRecord]) -> ShardRecord:
    """Return the shard with most rows: a shard may have got nothing from some of its inputs."""
    return max(records, key=lambda record: (record.written.rows, -record.shard))


def _reads(
    name: str, reader: ShardRecord, stages: Mapping[str, Sequence[ShardRecord]], whole: Mapping[str, set[str]]
) -> set[str]:
    """Return what a shard was made from: whole shards and directories, or its row groups of a shuffle."""
    groups: dict[str, set[str]] = {digest: set(names) for digest, names in whole.items()}
    for other, records in stages.items():
        for record in records:
            group = record.written.groups.get(reader.shard)
            if group is not None and group.rows:
                groups.setdefault(group.digest, set()).add(other)
    return _sources(name, reader.inputs, groups)


def _sources(name: str, inputs: Mapping[str, Sequence[str]], known: Mapping[str, set[str]]) -> set[str]:
    return {other for digests in inputs.values() for digest in digests for other in known.get(digest, ())} - {name}


def _depths(reads: Mapping[str, set[str]]) -> dict[str, int]:
    depths: dict[str, int] = {}

    def depth(name: str, within: tuple[str, ...]) -> int:
        if name not in depths:
            # Stages with equal content seem to read each other; the way through one of them is enough.
            above = [depth(other, (*within, name)) for other in reads[name] if other not in (*within, name)]
            depths[name] = 1 + max(above, default=-1)
        return depths[name]

    for name in sorted(reads):
        depth(name, ())
    return depths


def _code(records: Sequence[ShardRecord | DirectoryRecord]) -> tuple[str, ...]:
    commits = {record.code.get("commit", "") for record in records}
    return tuple(sorted(commit[:7] + "-dirty" * commit.endswith("-dirty") for commit in commits if commit))
