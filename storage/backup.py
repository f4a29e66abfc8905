"""Back up and restore what no build computes again: the inventory, manifests, pins, the registry with its pages, and
what was spent. Also the test articles on which versions are judged, the champion's models, journals of unfinished
crawls and, if asked for, the pages that the web may no longer have.

A backup has files named by their SHA-256 and generations that name them (`storage.generations`), so that a mistake on
the root overwrites nothing. A generation is written after all that it names. A file that does not match its record or
its seal, or is gone without having been pruned, is named and not copied: the new generation keeps the content of the
one before. No symbolic link is followed, neither in the backup nor in the root."""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from storage.builds import build_names, read_build
from storage.errors import DamagedFieldsError, StorageError, StorageFullError
from storage.file_names import parse_file_name
from storage.generations import (
    FILES,
    Generation,
    check_identity,
    expire,
    generation_path,
    hashed,
    new_name,
    object_path,
    read_generations,
    some_generations,
)
from storage.inventory import FORMAT_FILE, Inventory, check_whole, missing, read_inventory, take_stock
from storage.registry import Version, newest_version, read_champion, read_frozen, read_version, version_numbers
from storage.root import root_lock
from storage.sealed import seal, unseal
from storage.spending import FOLDER as SPENDING
from storage.store import Store
from storage.verification import described_by, is_record
from storage.writing import HashingSink

KEEP = 10  # generations, if nobody says how many
_NAMING = ("builds/", "registry/", f"{SPENDING}/")
_READ_BYTES = 1 << 20
_GONE = "it is gone from the root, which still names it: restore it from a backup (wikisum restore)"
_LINK = "it is a symbolic link, which is not followed: expected a file or folder of the root itself"


@dataclass
class Copied:
    """What was copied."""

    generation: str = ""  # the name of the one that was written or read
    files: int = 0  # files copied
    bytes: int = 0  # their size
    present: int = 0  # files that were there already
    damaged: dict[str, str] = field(default_factory=dict)  # file that was not copied -> what is wrong with it


def back_up(store: Store, copy: Store, *, pages: bool = False, keep: int = KEEP) -> Copied:
    """Copy what is new or changed as a generation, unless nothing is, and keep only the newest `keep`. The caller
    holds the root. Raises ValueError: `keep` is less than 1; StorageError: one of both cannot be used, the backup is
    another root's, or the root lacks what its inventory lists (MissingFilesError)."""
    if keep < 1:
        raise ValueError(f"keep is {keep}: expected at least 1 generation")
    if copy.filesystem.equals(store.filesystem) and f"{copy.base}/".startswith(f"{store.base}/"):
        raise StorageError(f"{copy.root!r} is in the root {store.root!r}, and lost with it: expected another place")
    check_whole(store)
    inventory = read_inventory(store)
    assert inventory is not None, "whoever holds a root has read it"
    copy.check_writable()
    with root_lock(copy):
        if FORMAT_FILE in copy.names():
            raise StorageError(
                f"{copy.root!r} has a {FORMAT_FILE}: it is a root, or a copy that an earlier version made "
                "(docs/upgrading.md). Expected a new folder, or a backup of this root"
            )
        generations, unread = read_generations(copy)
        check_identity(copy, generations, unread, inventory.id)
        before = generations[max(generations)].files if generations else {}
        present = {name: info.size for name, info in store.files().items()}
        kept = _irreplaceable(store, present, pages=pages)
        done, files = _copy_in(store, copy, kept, before, _gone(store, present, before))
        if files != before:
            name, created = new_name(generations), datetime.now(UTC).isoformat(timespec="seconds")
            generations[name] = Generation(inventory.id, created, files)
            copy.write_bytes(generation_path(name), seal(asdict(generations[name])))
        done.generation = max(generations)
        if not unread:  # it may need any file
            expire(copy, generations, keep)
    return done


def restore(copy: Store, store: Store, *, generation: str | None = None, replace_damaged: bool = False) -> Copied:
    """Copy back what the root lacks of a generation, by default the newest; with `replace_damaged` also what does not
    match its record or its seal, which else is named. The caller holds the root's lock. Raises StorageError: either
    cannot be used, the backup is another root's, or the root still lacks what its inventory lists."""
    generations, unread = some_generations(copy)
    name = max(generations) if generation is None else generation
    if name not in generations:
        why = f" ({unread[generation_path(name)]})" if generation_path(name) in unread else ""
        raise StorageError(f"{copy.root!r} has no generation {name!r}{why}: expected one of {', '.join(generations)}")
    store.check_writable()
    chosen = generations[name]
    known = _inventory_to_keep(copy, store, chosen, replace_damaged=replace_damaged)
    done = Copied(name)
    wanted = {path: sha256 for path, sha256 in chosen.files.items() if not _taken_away(known, path)}
    replaced = _copy_out(copy, store, wanted, done, keep_identity=known is not None, replace_damaged=replace_damaged)
    if not replace_damaged:
        done.damaged |= replaced
    if FORMAT_FILE in store.names():
        take_stock(store)
        done.damaged |= {path: problem for path, problem in missing(store).items() if path not in done.damaged}
    return done


def _inventory_to_keep(copy: Store, store: Store, chosen: Generation, *, replace_damaged: bool) -> Inventory | None:
    """Return the inventory of the root that is restored; None if it is to come from the backup."""
    try:
        known = read_inventory(store)
    except DamagedFieldsError:
        if not replace_damaged:
            raise
        return None
    if known is None or not (known.files or known.champions or known.id == chosen.root):
        return None  # a root in which nothing was finished takes the identity of the backup
    check_identity(copy, {"": chosen}, {}, known.id)
    return known


def _taken_away(known: Inventory | None, path: str) -> bool:
    """Whether the root's inventory says that a file was removed on purpose."""
    return known is not None and known.files.get(path, "").startswith(("pruned", "unpinned"))


def _required(store: Store) -> set[str]:
    """Return the shards and directories that the champion, the frozen split and the newest version need."""
    champion, frozen, newest = read_champion(store), read_frozen(store), newest_version(store)
    needed = set() if newest is None else _recent(newest)
    if champion is not None:
        version = read_version(store, champion.version)
        needed |= {version.vocabulary, *version.models.values()}
    if frozen is not None:
        needed.update((*frozen.articles, *frozen.paragraphs))
    return needed


def _recent(version: Version) -> set[str]:
    return {file for week in version.recent.values() for file in week.values()}


def _gone(store: Store, present: Mapping[str, int], before: Mapping[str, str]) -> dict[str, str]:
    """Return files that are gone without pruning -> what is wrong: required files, and those that the previous backup
    has and a build still names."""
    required = _required(store)
    named = set(required)
    for name in build_names(store):
        with suppress(DamagedFieldsError):  # it is said when it is copied
            build = read_build(store, name)
            named.update(build.files, build.directories)
    lost = {name for name in before if (file := parse_file_name(name)) and file.named in named}
    for path in required:
        stem = path.removesuffix(".parquet")
        lost |= {f"{stem}.json"} if stem == path else {path, f"{stem}.json"}
    return dict.fromkeys(lost - present.keys(), _GONE)


def _irreplaceable(store: Store, present: Mapping[str, int], *, pages: bool) -> dict[str, int]:
    """Return which files nothing computes again, with their sizes; older test articles may have been pruned."""
    needed = _required(store).union(*(_recent(read_version(store, number)) for number in version_numbers(store)))

    def kept(name: str) -> bool:
        file = parse_file_name(name)
        if _is_naming(name):
            return file is None or not file.trash
        if file is None or file.trash:
            return False
        if name.startswith("pages/"):
            return pages or file.kind == "scratch"
        return file.named in needed

    return {name: size for name, size in present.items() if kept(name)}


def _copy_in(
    store: Store, copy: Store, sizes: Mapping[str, int], before: Mapping[str, str], gone: Mapping[str, str]
) -> tuple[Copied, dict[str, str]]:
    """Copy files of a root that the backup lacks; return what was done, and file -> SHA-256 of the generation. What is
    gone, or is not there although a record describes it, counts as damaged."""
    done, files = Copied(damaged=dict(gone)), dict[str, str]()
    there = {name: info.size for name, info in copy.files(FILES).items()}
    expected = dict(_digests(store, sizes, done.damaged))
    done.damaged |= dict.fromkeys(expected.keys() - sizes.keys(), _GONE)
    for name in sorted(sizes.keys() - done.damaged.keys()):
        if link := _link(store, name):
            done.damaged[link] = _LINK
            continue
        try:
            sha256 = expected.get(name) or _sha256(store, name)
            if there.get(object_path(sha256)) == sizes[name]:
                done.present += 1
            else:
                with store.reading(name) as stream:
                    done.bytes += _copy(stream, copy, object_path(sha256), sha256, "its record")
                done.files += 1
                there[object_path(sha256)] = sizes[name]
            files[name] = sha256
        except StorageFullError:
            raise
        except (ValueError, StorageError, FileNotFoundError) as error:
            done.damaged[name] = str(error)
    files |= {name: before[name] for name in done.damaged if name in before}
    return done, files


def _copy_out(
    copy: Store, store: Store, wanted: Mapping[str, str], done: Copied, *, keep_identity: bool, replace_damaged: bool
) -> dict[str, str]:
    """Copy to the root what it lacks, what names others last; return the damaged files there, which are only replaced
    if that is asked for."""
    there = store.files()
    damaged = _damaged(store, [name for name in wanted if name in there], wanted)

    def turn(name: str) -> tuple[bool, bool, bool, str]:
        return name == FORMAT_FILE, _is_naming(name), is_record(name), name

    for name in sorted(wanted, key=turn):
        if not _is_ours(name):
            done.damaged[name] = "no file of a root has such a name"
        elif link := _link(store, name):
            done.damaged[link] = _LINK
        elif keep_identity if name == FORMAT_FILE else name in there and not (replace_damaged and name in damaged):
            done.present += 1
        else:
            try:
                with copy.reading(object_path(wanted[name])) as stream:
                    done.bytes += _copy(stream, store, name, wanted[name], "the generation")
                done.files += 1
            except StorageFullError:
                raise
            except (ValueError, StorageError, FileNotFoundError) as error:
                done.damaged[name] = str(error)
    return {name: f"{problem}; give --replace-damaged to replace it" for name, problem in damaged.items()}


def _damaged(store: Store, names: list[str], wanted: Mapping[str, str]) -> dict[str, str]:
    """Return which of some files of the root do not match their record or their seal. If this holds for a record or for
    one of its files, or if the backup has a different version of a missing one, all existing ones of them are
    included."""
    damaged: dict[str, str] = {}
    of_record: dict[str, list[str]] = {}
    for name in names:
        if (file := parse_file_name(name)) and file.kind in ("shard", "directory"):
            of_record.setdefault(file.named, []).append(name)
        elif _is_sealed(name) and (problem := _unsealed(store, name)):
            damaged[name] = problem
    for members in of_record.values():
        record = next(filter(is_record, members), None)
        try:
            expected = {name: wanted[name] for name in members} if record is None else described_by(store, record)
            problem = _mismatch(store, expected, wanted)
        except (ValueError, StorageError) as error:
            problem = str(error)
        if problem:
            damaged |= dict.fromkeys(members, problem)
    return damaged


def _mismatch(store: Store, expected: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Return which file of a record does not match it; "" if all do, or will once they are copied."""
    for file, sha256 in expected.items():
        try:
            with store.reading(file) as stream:
                digest = hashed(stream)[0]
        except FileNotFoundError:
            digest = wanted.get(file, sha256)
        if digest != sha256:
            return f"{file} does not match its record"
    return ""


def _unsealed(store: Store, name: str) -> str:
    try:
        unseal(store.read_bytes(name))
    except (ValueError, StorageError) as error:
        return str(error)
    return ""


def _sha256(store: Store, name: str) -> str:
    """Return the digest of a file that no record describes. Raises ValueError: its seal is broken."""
    if _is_sealed(name):
        data = store.read_bytes(name)
        unseal(data)
        return hashlib.sha256(data).hexdigest()
    with store.reading(name) as stream:
        return hashed(stream)[0]


def _copy(stream: IO[bytes], target: Store, name: str, sha256: str, said_by: str) -> int:
    """Return the size of what was copied. Raises ValueError: it is other content than expected, and was not copied."""
    with target.writing(name) as sink:
        hashing = HashingSink(sink)
        shutil.copyfileobj(stream, hashing, _READ_BYTES)
        if (digest := hashing.digest.hexdigest()) != sha256:
            raise ValueError(f"its sha256 is {digest[:16]}…, {said_by} says {sha256[:16]}…")
    return hashing.bytes


def _digests(store: Store, names: Mapping[str, int], damaged: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield files with the SHA-256 that their records say."""
    for name in filter(is_record, names):
        try:
            yield from described_by(store, name).items()
        except (ValueError, StorageError) as error:
            damaged[name] = f"it cannot be read: {error}"


def _is_naming(name: str) -> bool:
    return name.startswith(_NAMING) or name == FORMAT_FILE


def _is_sealed(name: str) -> bool:
    return _is_naming(name) and (name.endswith(".json") or name.startswith("builds/"))


def _is_ours(name: str) -> bool:
    """Whether a generation may name a file so: below the root, and as this project names files."""
    return {"", ".", ".."}.isdisjoint(name.split("/")) and (_is_naming(name) or parse_file_name(name) is not None)


def _link(store: Store, name: str) -> str:
    """Return the symbolic link on the way to a file of a root, relative to it; "" if there is none."""
    parts = name.split("/") if store.is_local else []
    paths = ("/".join(parts[: count + 1]) for count in range(len(parts)))
    return next((path for path in paths if Path(store.path(path)).is_symlink()), "")
