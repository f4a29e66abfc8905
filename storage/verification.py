"""Read every file below a root and compare it with its record, to find damage in files that no run happens to read.

A pass reads what records name: shards and the files of models and reports; then what names these: manifests, pins and
the registry, and what was spent; and it compares the root with its inventory. It reports its speed and the time left. A
small file at the root keeps its progress, so that a pass that was interrupted less than a day ago continues where it
stopped. It then reads again what was found damaged, and what was written since. Damaged files are renamed, as in a run:
the next build that reads one computes it again. A file that cannot be read at all is named and left as it is. A dry run
writes nothing."""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field

import pyarrow.fs as pafs

from storage import builds, registry, spending
from storage.directories import read_directory_record
from storage.errors import CorruptShardError, DamagedFieldsError, MissingFilesError, StorageError
from storage.file_names import parse_file_name
from storage.inventory import CHAMPION, LATEST, is_listed, missing, way_out, write_off
from storage.recipes import read_record, set_aside
from storage.sealed import of_kind, seal, unseal
from storage.store import GONE, Store, check_bytes

Fault = tuple[str, str, str]  # a file, what is wrong with it, and what was done about it or a person can do
JOURNAL = ".verification.json"
_REPORT_SECONDS = 5.0
_CONTINUED_SECONDS = 86_400.0  # an older pass says too little of how its files are now
_CLOCK_SECONDS = 60.0  # an object store has a clock of its own, and tells whole seconds
_RESTORE = "nothing computes it again: restore it from a backup (wikisum restore --replace-damaged)"
_UNREAD = "left as it is: let this user read it, or delete it, and a build that needs it computes it again"


@dataclass
class Verification:
    """What a pass has found."""

    after: str = ""  # name of the last record that was checked; records are checked in the order of their names
    files: int = 0  # files read
    bytes: int = 0  # bytes read
    damaged: dict[str, str] = field(default_factory=dict)  # file -> what is wrong with it
    advice: dict[str, str] = field(default_factory=dict)  # file of `damaged` that no build makes -> what helps
    seconds: float = 0.0  # time it took, without interruptions
    begun: float = 0.0  # when it began, in seconds since 1970
    earlier: int = 0  # files read before the last interruption
    part: str = "0/1"  # which part of the records is read, from 0, and of how many


def verify(
    store: Store,
    *,
    repair: bool,
    accept_loss: bool = False,
    part: tuple[int, int] = (0, 1),
    workers: int = 4,
    progress: Callable[[str], None] = lambda _: None,
) -> Verification:
    """Read and check everything, or a `part` of the shards and directories, chosen by a hash (which from 0, of how
    many), or continue the pass over it that was interrupted. The caller holds the root's lock. `repair`: rename damaged
    files, so that a build computes them again; otherwise write nothing, and continue no pass. `accept_loss`: write off
    in the inventory what it lists and is gone. `workers` check records at the same time; `progress` is called with a
    line for people, every few seconds and at the end. Raises StorageError: the store does not answer; call it again to
    go on."""
    infos = store.files()
    listing = {name: info.size for name, info in infos.items()}
    result = _interrupted(store, "{}/{}".format(*part)) if repair else _begun(part)
    pending = [
        name
        for name in _pending(infos, result)
        if int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % part[1] == part[0]
    ]
    described = _described(pending, listing)
    of_files, of_bytes = result.files + len(described), result.bytes + sum(listing[file] for file in described)
    started, earlier, reported = time.monotonic(), (result.bytes, result.seconds), 0.0

    def report() -> None:
        rate = (result.bytes - earlier[0]) / max(time.monotonic() - started, 1e-9)
        left = (of_bytes - result.bytes) / rate if rate else 0.0
        progress(
            f"{result.files:,} of {of_files:,} files, {result.bytes / 1e6:,.1f} of {of_bytes / 1e6:,.1f} MB at "
            f"{rate / 1e6:,.1f} MB/s, about {left:,.0f} s left; {len(result.damaged)} damaged"
        )

    pool = ThreadPoolExecutor(workers, thread_name_prefix="verify")
    try:
        for name, (files, size, damages, unread) in zip(
            pending, pool.map(lambda name: _check(store, name, listing), pending), strict=True
        ):
            result.files += files
            result.bytes += size
            for file in _described([name], result.damaged):  # what an interrupted pass found of it
                del result.damaged[file]
                result.advice.pop(file, None)
            result.damaged |= unread
            result.advice |= dict.fromkeys(unread, _UNREAD)
            for damage in damages:
                result.damaged[damage.path] = damage.problem
                if repair and damage.path != name:
                    set_aside(store, damage)
                if repair:
                    store.delete(name)
            result.after = max(result.after, name)
            if time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                report()
                if repair:
                    _save(store, result, earlier[1] + reported - started)
    except BaseException:
        if repair:
            _save(store, result, earlier[1] + time.monotonic() - started)
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    for name, problem, advice in check_naming_files(store, listing, repair=repair, accept_loss=accept_loss):
        result.damaged[name], result.advice[name] = problem, advice
    result.seconds = round(earlier[1] + time.monotonic() - started, 3)
    of_files, of_bytes = result.files, result.bytes  # the listing also counted files that a killed writer left
    report()
    if repair:
        store.delete(JOURNAL)
    return result


def _check(
    store: Store, name: str, listing: Mapping[str, int]
) -> tuple[int, int, Sequence[CorruptShardError], dict[str, str]]:
    """Check a record and the files it names; return how many files were read, their bytes, the damage, and the files
    that could not be read, with the reason."""
    size, unread = listing[name], dict[str, str]()
    try:
        expected = described_by(store, name)
    except FileNotFoundError:
        return 0, 0, (), {}  # deleted since it was listed
    except ValueError as error:
        return 1, size, (CorruptShardError(name, f"it cannot be read: {error}"),), {}
    except StorageError as error:
        _raise_if_away(store, error)
        return 1, size, (), {name: str(error)}
    damage = []
    for file, sha256 in expected.items():
        try:
            with store.reading(file) as stream:
                check_bytes(file, stream, sha256)
        except FileNotFoundError:
            damage.append(CorruptShardError(file, GONE))
        except CorruptShardError as error:
            damage.append(error)
        except StorageError as error:
            _raise_if_away(store, error)
            unread[file] = str(error)
    present = [file for file in expected if file in listing]
    return 1 + len(present), size + sum(listing[file] for file in present), damage, unread


def _raise_if_away(store: Store, error: StorageError) -> None:
    """Raise an error that says that the store does not answer, and not that a file cannot be read."""
    if not store.is_local and not isinstance(error, DamagedFieldsError | MissingFilesError):
        raise error


def described_by(store: Store, name: str) -> dict[str, str]:
    """Return file -> SHA-256 of what a record describes. Raises ValueError: it is not such a record;
    FileNotFoundError."""
    file = parse_file_name(name)
    assert file is not None
    if file.kind == "directory":
        directory = read_directory_record(store, name)
        return {f"{directory.path}/{file}": sha256 for file, sha256 in directory.files.items()}
    shard = read_record(store, name)
    return {shard.path: shard.written.sha256}


def _pending(infos: Mapping[str, pafs.FileInfo], found: Verification) -> list[str]:
    """Return the records to check: those a pass has not reached, and those of which something may have changed since.
    The latter were found damaged by a pass that only reports, were written since, or lack their file."""
    records = sorted(name for name in infos if is_record(name))
    written = [name for name, info in infos.items() if info.mtime.timestamp() >= found.begun - _CLOCK_SECONDS]
    doubtful = {stem for name in (*written, *found.damaged) for stem in _stems(name)}
    whole = {stem for name in infos if not is_record(name) for stem in _stems(name)}
    return [
        name
        for name in records
        if name > found.after or (stem := name.removesuffix(".json")) in doubtful or stem not in whole
    ]


def is_record(name: str) -> bool:
    """Whether a path below a root is that of a record of a shard or directory."""
    file = parse_file_name(name)
    return file is not None and file.record


def _described(records: Sequence[str], listing: Iterable[str]) -> list[str]:
    """Return the records and the files they describe, judged by their names alone."""
    stems = {record.removesuffix(".json") for record in records}
    return [name for name in listing if any(stem in stems for stem in _stems(name))]


def _stems(name: str) -> Iterator[str]:
    """Yield the possible names of a file's record: that of the file, or of a folder around it."""
    yield name.removesuffix(".json").removesuffix(".parquet")
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _interrupted(store: Store, part: str) -> Verification:
    """Return the pass over this part that was interrupted within a day, or a new one."""
    now = time.time()
    with suppress(FileNotFoundError, ValueError):
        result = of_kind(Verification, unseal(store.read_bytes(JOURNAL)))
        if result.part == part and 0 <= now - result.begun <= _CONTINUED_SECONDS:
            result.earlier = result.files
            return result
    return Verification(begun=now, part=part)


def _begun(part: tuple[int, int]) -> Verification:
    return Verification(begun=time.time(), part="{}/{}".format(*part))


def _save(store: Store, found: Verification, seconds: float) -> None:
    store.write_bytes(JOURNAL, seal({**asdict(found), "seconds": round(seconds, 3)}))


def check_naming_files(
    store: Store, listing: Mapping[str, int], *, repair: bool, accept_loss: bool = False
) -> Iterator[Fault]:
    """Yield what is wrong with the files that name others, and what the inventory lists and is gone. The caller holds
    the root's lock; `listing` has every file below it. `repair`: set aside manifests that cannot be read, let `latest`
    name the newest build again, and a lost pointer the champion of the inventory; `accept_loss` is that of `verify`.
    Raises StorageError: the store does not answer."""
    yield from _inventory(store, repair=repair, accept_loss=accept_loss)
    yield from _manifests(store, listing, repair=repair)
    yield from _pins(store)
    yield from _registry(store, listing)
    yield from _spending(store, listing)
    if LATEST in listing or is_listed(store, LATEST):
        try:
            builds.named_by_latest(store)
        except StorageError as error:
            advice = "the next build writes it again"
            with suppress(StorageError):  # if no build can be read
                if repair and (newest := builds.latest_build(store)) is not None:
                    builds.point_to(store, newest.name)
                    advice = f"mended: it names {newest.name}"
            yield LATEST, _why(error), advice


def _inventory(store: Store, *, repair: bool, accept_loss: bool) -> Iterator[Fault]:
    """Yield what is listed and gone."""
    gone = missing(store)
    with suppress(StorageError):  # if a folder has its name
        if repair and CHAMPION in gone and (mended := registry.mend_champion(store)) is not None:
            yield CHAMPION, gone.pop(CHAMPION), f"mended: it names version {mended.version}"
    if accept_loss:
        write_off(store, gone, "lost")
    for name, problem in gone.items():
        yield name, problem, "written off as lost" if accept_loss else way_out(name)


def _manifests(store: Store, listing: Mapping[str, int], *, repair: bool) -> Iterator[Fault]:
    """Yield manifests that cannot be read, or that name what is not there."""
    for name in builds.build_names(store):
        try:
            build = builds.read_build(store, name)
        except StorageError as error:
            _raise_if_away(store, error)
            advice = "until it is pruned, pruning deletes nothing that is older"
            if repair and isinstance(error, DamagedFieldsError):
                builds.set_aside_manifest(store, name)
                advice = f"set aside; {advice}"
            yield builds.manifest_path(name), _why(error), advice
            continue
        files = (*_with_records(build.files), *(f"{path}.json" for path in build.directories))
        if problem := _lacks(files, listing):
            yield builds.manifest_path(name), problem, "run that build again, or prune it"


def _with_records(shards: Iterable[str]) -> Iterator[str]:
    for file in shards:
        yield file
        yield file.removesuffix(".parquet") + ".json"


def _lacks(files: Iterable[str], listing: Mapping[str, int]) -> str:
    """Return which of the files that something names are gone, as a sentence; "" if none."""
    gone = [file for file in files if file not in listing]
    return f"it names {gone[0]}, which is missing ({len(gone)} in all)" if gone else ""


def _why(error: StorageError) -> str:
    """Return what an error says of a file, without its name."""
    return str(error.__cause__ or error)


def _pins(store: Store) -> Iterator[Fault]:
    """Yield pins that are damaged, or whose build is gone."""
    existing = set(builds.build_names(store))
    for name in builds.pinned_builds(store):
        again = f"pin it again: wikisum prune --pin {name}"
        try:
            pinned = unseal(store.read_bytes(builds.pin_path(name))).get("build")
        except (ValueError, StorageError) as error:
            if isinstance(error, StorageError):
                _raise_if_away(store, error)
            yield builds.pin_path(name), f"it cannot be read: {error}", again
            continue
        if pinned != name:
            yield builds.pin_path(name), f"it is the pin of {pinned}", again
        elif name not in existing:
            yield builds.pin_path(name), "there is no such build", f"unpin it: wikisum prune --unpin {name}"


def _registry(store: Store, listing: Mapping[str, int]) -> Iterator[Fault]:
    """Yield damaged versions and pointers, a champion whose files are gone, test splits whose files are gone."""
    newest: registry.Version | None = None
    for number in registry.version_numbers(store):
        try:
            newest = registry.read_version(store, number)
        except StorageError as error:
            _raise_if_away(store, error)
            yield registry.version_path(number), _why(error), _RESTORE
    recent = [file for week in newest.recent.values() for file in week.values()] if newest else []
    if newest and (problem := _lacks(_with_records(recent), listing)):
        yield registry.version_path(newest.number), f"of its recent test split {problem}", _RESTORE
    try:
        champion = registry.read_champion(store)
        if champion is not None and (
            gone := registry.missing_files(store, registry.read_version(store, champion.version))
        ):
            problem = f"version {champion.version}, the champion, lacks {gone[0]} ({len(gone)} in all)"
            other = "restore it from a backup, or promote another version: wikisum promote --to NUMBER"
            yield CHAMPION, problem, other
    except MissingFilesError:
        pass  # said of the inventory
    except StorageError as error:
        yield CHAMPION, _why(error), _RESTORE
    try:
        frozen = registry.read_frozen(store)
    except MissingFilesError:
        return
    except StorageError as error:
        _raise_if_away(store, error)
        yield registry.FROZEN, _why(error), _RESTORE
        return
    if frozen and (problem := _lacks(_with_records((*frozen.articles, *frozen.paragraphs)), listing)):
        yield registry.FROZEN, problem, _RESTORE


def _spending(store: Store, listing: Mapping[str, int]) -> Iterator[Fault]:
    """Yield files of what was spent that cannot be read, or whose amounts are none."""
    for name in filter(spending.is_spending, [*listing, *store.no_files()]):
        try:
            spending.read_amounts(store, name)
        except FileNotFoundError:
            continue
        except (ValueError, StorageError) as error:
            if isinstance(error, StorageError):
                _raise_if_away(store, error)
            yield name, str(error), _RESTORE
