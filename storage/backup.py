"""Copy to another place what nothing computes again, and back: manifests, pins, the registry with its pages, what was
spent, the test articles on which versions are judged, the champion's models, journals of unfinished crawls and, if
asked for, the pages that the web may no longer have.

A copy has the layout of a root. What does not match its record or its seal is named and not copied, so that damage
never replaces a good copy. Files that name others come last, so that after a kill all that is named is there."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field

from storage.errors import StorageError
from storage.file_names import parse_file_name
from storage.registry import read_champion, read_frozen, read_version, version_numbers
from storage.root import check_root, prepare_root
from storage.sealed import unseal
from storage.spending import FOLDER as SPENDING
from storage.store import Store
from storage.verification import described_by, is_record
from storage.writing import HashingSink

_NAMING = ("builds/", "registry/", f"{SPENDING}/")
_COPY_BYTES = 1 << 20


@dataclass
class Copied:
    """What was copied."""

    files: int = 0  # files copied
    bytes: int = 0  # their size
    present: int = 0  # files that were there already
    damaged: dict[str, str] = field(default_factory=dict)  # file that was not copied -> what is wrong with it


def back_up(store: Store, copy: Store, *, pages: bool = False) -> Copied:
    """Copy what is new or changed, while the caller holds the root's lock. StorageError: one cannot be used."""
    check_root(store)
    if copy.filesystem.equals(store.filesystem) and f"{copy.base}/".startswith(f"{store.base}/"):
        raise StorageError(f"{copy.root!r} is in the root {store.root!r}, and lost with it: expected another place")
    prepare_root(copy)
    return _copy(store, copy, _irreplaceable(store, pages=pages), replace=True)


def restore(copy: Store, store: Store) -> Copied:
    """Copy back what the root lacks, while the caller holds its lock. Raises StorageError: either cannot be used."""
    check_root(copy)
    prepare_root(store)
    files = copy.files()
    return _copy(copy, store, [name for name in files if _is_naming(name) or parse_file_name(name)], replace=False)


def _irreplaceable(store: Store, *, pages: bool) -> list[str]:
    files, directories = set[str](), set[str]()
    champion, frozen = read_champion(store), read_frozen(store)
    for number in version_numbers(store):
        version = read_version(store, number)
        files.update(file for week in version.recent.values() for file in week.values())
        if champion is not None and number == champion.version:
            files.add(version.vocabulary)
            directories.update(version.models.values())
    if frozen is not None:
        files.update((*frozen.articles, *frozen.paragraphs))

    def kept(name: str) -> bool:
        file = parse_file_name(name)
        if _is_naming(name):
            return file is None or not file.trash
        if file is None or file.trash:
            return False
        if name.startswith("pages/"):
            return pages or file.kind == "scratch"
        return file.named in (files if file.kind == "shard" else directories)

    return [name for name in store.files() if kept(name)]


def _is_naming(name: str) -> bool:
    return name.startswith(_NAMING)


def _copy(source: Store, target: Store, names: list[str], *, replace: bool) -> Copied:
    done, there = Copied(), target.files()
    expected = dict(_digests(source, names, done.damaged))
    for name in sorted(set(names) - done.damaged.keys(), key=lambda name: (_is_naming(name), is_record(name), name)):
        if name in there and not (replace and _is_naming(name) and source.read_bytes(name) != target.read_bytes(name)):
            done.present += 1
            continue
        try:
            done.bytes += _copy_one(source, target, name, expected.get(name))
            done.files += 1
        except ValueError as error:
            done.damaged[name] = str(error)
    return done


def _digests(store: Store, names: list[str], damaged: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield files with the SHA-256 that their records say."""
    for name in filter(is_record, names):
        try:
            yield from described_by(store, name).items()
        except ValueError as error:
            damaged[name] = f"it cannot be read: {error}"


def _copy_one(source: Store, target: Store, name: str, sha256: str | None) -> int:
    """Return the size of what was copied. Raises ValueError: it is damaged."""
    if _is_naming(name) and name.endswith(".json"):
        unseal(source.read_bytes(name))
    with source.reading(name) as stream, target.writing(name) as sink:
        hashing = HashingSink(sink)
        shutil.copyfileobj(stream, hashing, _COPY_BYTES)
        if sha256 not in (None, digest := hashing.digest.hexdigest()):
            raise ValueError(f"its sha256 is {digest[:16]}…, its record says {str(sha256)[:16]}…")
    return hashing.bytes
