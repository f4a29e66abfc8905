"""Read every file below a root and compare it with its record, to find damage in files that no run happens to read.

A pass reads what records name: shards, the files of models and reports, and the manifests of builds. It reports its
speed and the time left. Its progress is kept in a small file at the root, so that an interrupted pass continues where
it stopped. Damaged files are renamed, as in a run: the next build computes them again.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field

from storage.builds import LATEST, build_names, latest_build, read_build
from storage.directories import DirectoryRecord, record_of_directory
from storage.errors import CorruptShardError, StorageError
from storage.file_names import parse_file_name
from storage.recipes import ShardRecord, record_path, set_aside
from storage.store import Store

JOURNAL = ".verification.json"
_READ_BYTES = 1 << 20
_REPORT_SECONDS = 5.0


@dataclass(frozen=True)
class VerificationProgress:
    """How far a pass has come.

    Attributes:
        files: files read, including those of an interrupted pass that this one continues.
        of_files: files to read in all.
        bytes: bytes read, likewise.
        of_bytes: bytes to read in all.
        rate: bytes a second, in this run.
        damaged: files found damaged.
    """

    files: int
    of_files: int
    bytes: int
    of_bytes: int
    rate: float
    damaged: int

    def __str__(self) -> str:
        left = (self.of_bytes - self.bytes) / self.rate if self.rate else 0.0
        return (
            f"{self.files:,} of {self.of_files:,} files, {self.bytes / 1e6:,.1f} of {self.of_bytes / 1e6:,.1f} MB at "
            f"{self.rate / 1e6:,.1f} MB/s, about {left:,.0f} s left; {self.damaged} damaged"
        )


@dataclass
class Verification:
    """What a pass has found.

    Attributes:
        after: name of the last record that was checked; records are checked in the order of their names.
        files: files read.
        bytes: bytes read.
        damaged: file -> what is wrong with it.
        seconds: time it took, without interruptions.
    """

    after: str = ""
    files: int = 0
    bytes: int = 0
    damaged: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


def verify(
    store: Store, *, repair: bool, workers: int = 4, progress: Callable[[VerificationProgress], None] = lambda _: None
) -> Verification:
    """Read and check everything, or continue the pass that was interrupted.

    The caller holds the root's lock.

    Args:
        store: the root.
        repair: rename damaged files, so that the next build computes them again; else only report them.
        workers: number of records checked at the same time.
        progress: called with the progress every few seconds and at the end.

    Raises:
        StorageError: the store does not answer; the same call continues from there.
    """
    listing = {name: info.size for name, info in store.files().items()}
    records = sorted(name for name in listing if _is_record(name))
    found = _interrupted(store)
    pending = [name for name in records if name > found.after]
    described = _described(pending, listing)
    of_files, of_bytes = found.files + len(described), found.bytes + sum(listing[file] for file in described)
    started, earlier, reported = time.monotonic(), (found.bytes, found.seconds), 0.0

    def report() -> None:
        rate = (found.bytes - earlier[0]) / max(time.monotonic() - started, 1e-9)
        progress(VerificationProgress(found.files, of_files, found.bytes, of_bytes, rate, len(found.damaged)))

    pool = ThreadPoolExecutor(workers, thread_name_prefix="verify")
    try:
        for name, outcome in zip(pending, pool.map(lambda name: _check(store, name, listing), pending), strict=True):
            found.files += outcome.files
            found.bytes += outcome.bytes
            for damage in outcome.damage:
                found.damaged[damage.path] = damage.problem
                if repair:
                    _set_aside(store, name, damage)
            found.after = name
            if time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                report()
                _save(store, found, earlier[1] + reported - started)
    except BaseException:
        _save(store, found, earlier[1] + time.monotonic() - started)
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    found.damaged |= _manifests(store, listing, repair=repair)
    found.seconds = round(earlier[1] + time.monotonic() - started, 3)
    of_files, of_bytes = found.files, found.bytes  # the listing also counted files that a killed writer left
    report()
    store.delete(JOURNAL)
    return found


@dataclass(frozen=True)
class _Outcome:
    files: int
    bytes: int
    damage: tuple[CorruptShardError, ...]


def _check(store: Store, name: str, listing: Mapping[str, int]) -> _Outcome:
    """Check a record and the files it names."""
    size = listing[name]
    try:
        expected = _expected(store, name)
    except FileNotFoundError:
        return _Outcome(0, 0, ())  # deleted since it was listed
    except ValueError as error:
        return _Outcome(1, size, (CorruptShardError(name, f"it cannot be read: {error}"),))
    damage = [
        CorruptShardError(file, problem)
        for file, sha256 in expected.items()
        if (problem := _problem(store, file, sha256))
    ]
    present = [file for file in expected if file in listing]
    return _Outcome(1 + len(present), size + sum(listing[file] for file in present), tuple(damage))


def _expected(store: Store, name: str) -> dict[str, str]:
    """Return file -> SHA-256 of what a record describes.

    Raises:
        ValueError: it is not a record, or the record of something else.
    """
    data, file = store.read_bytes(name), parse_file_name(name)
    assert file is not None
    if file.kind == "directory":
        directory = DirectoryRecord.from_json(data)
        if record_of_directory(directory.name, directory.key) != name:
            raise ValueError(f"it describes {directory.path}")
        return {f"{directory.path}/{file}": sha256 for file, sha256 in directory.files.items()}
    shard = ShardRecord.from_json(data)
    if record_path(shard.stage, shard.shard, shard.key) != name:
        raise ValueError(f"it describes {shard.path}")
    return {shard.path: shard.written.sha256}


def _problem(store: Store, file: str, sha256: str) -> str | None:
    """Return what is wrong with a file, or None."""
    digest = hashlib.sha256()
    try:
        with store.reading(file) as stream:
            while chunk := stream.read(_READ_BYTES):
                digest.update(chunk)
    except FileNotFoundError:
        return "the file is gone"
    if digest.hexdigest() != sha256:
        return f"its sha256 is {digest.hexdigest()[:16]}…, its record says {sha256[:16]}…"
    return None


def _set_aside(store: Store, record: str, damage: CorruptShardError) -> None:
    if damage.path != record:
        set_aside(store, damage)
    store.delete(record)


def _manifests(store: Store, listing: Mapping[str, int], *, repair: bool) -> dict[str, str]:
    """Return manifests that cannot be read, or that name what is not there; the pointer to the latest is mended."""
    damaged = {}
    for name in build_names(store):
        try:
            build = read_build(store, name)
        except StorageError as error:
            damaged[f"builds/{name}.json"] = str(error)
            continue
        files = [file for stage in build.stages.values() for file in stage.values()]
        directories = [*build.models.values(), *([build.report] if build.report else [])]
        missing = [file for file in (*files, *(f"{path}.json" for path in directories)) if file not in listing]
        if missing:
            damaged[f"builds/{name}.json"] = f"it names {missing[0]}, which is missing ({len(missing)} files in all)"
    if store.exists(LATEST):
        try:
            read_build(store, str(json.loads(store.read_bytes(LATEST))["build"]))
        except (ValueError, KeyError, TypeError, StorageError) as error:
            damaged[LATEST] = f"it does not name a build: {error}"
            if repair and (newest := latest_build(store)) is not None:
                store.write_bytes(LATEST, json.dumps({"build": newest.name}).encode())
    return damaged


def _is_record(name: str) -> bool:
    file = parse_file_name(name)
    return file is not None and file.record


def _described(records: Sequence[str], listing: Mapping[str, int]) -> list[str]:
    """Return the records and the files they describe, judged by their names alone."""
    stems = {record.removesuffix(".json") for record in records}
    return [name for name in listing if any(stem in stems for stem in _stems(name))]


def _stems(name: str) -> Iterator[str]:
    """Yield the possible names of a file's record: that of the file, or of a folder around it."""
    yield name.removesuffix(".json").removesuffix(".parquet")
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _interrupted(store: Store) -> Verification:
    """Return the pass that was interrupted, or a new one."""
    try:
        return Verification(**json.loads(store.read_bytes(JOURNAL)))
    except (FileNotFoundError, ValueError, TypeError):
        return Verification()


def _save(store: Store, found: Verification, seconds: float) -> None:
    store.write_bytes(JOURNAL, json.dumps({**asdict(found), "seconds": round(seconds, 3)}).encode())
