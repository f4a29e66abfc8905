"""The identity of a root and its inventory, both in `root.json`: what was finished there, and so must still be there.

The inventory only grows. It lists manifests, pins, versions, the frozen test split, `latest`, and every change of the
champion; what pruning or a person takes away stays in it with the reason. So a file that is absent has never existed
only if it is not listed. A file is written first and listed next, each atomically: whoever holds the root next lists
what a killed run has written and not listed."""

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from storage.errors import DamagedFieldsError, MissingFilesError, StorageError
from storage.schemas import DATASETS
from storage.sealed import of_kind, seal, unseal
from storage.store import Store

FORMAT = 3
FORMAT_FILE = "root.json"
CHAMPION = "registry/champion.json"
LATEST = "builds/latest.json"
LIBRARIES = "registry/libraries.json"
BUILD_NAME = r"\d{8}-\d{6}(?:-[^/\n]+)?"  # as `record_build` names them; other files in the folder are other people's
_FOLDERS = ("builds", "builds/pinned", "registry", "registry/versions")
_LISTED = re.compile(
    rf"(builds/(?:latest|{BUILD_NAME})\.json|builds/pinned/{BUILD_NAME}|registry/(?:frozen|libraries|versions/\d{{6}})\.json)"
    r"(?:\.damaged)?"
)
_SHARD = re.compile(r"part-[0-9]{5}\.[0-9a-f]{16}\.(?:parquet|json)")
_BEFORE = 2  # the format that had no inventory; such a root gets one when it is next opened for writing
_WAYS_OUT = "restore it from a backup (wikisum restore), or write it off as lost (wikisum verify --accept-loss)"
_CHAMPION_AGAIN = "wikisum verify writes it again as listed, if that version is there"


@dataclass(frozen=True)
class Inventory:
    """What `root.json` holds."""

    format: int  # how the files of the root are named and sealed
    id: str = ""  # random, in hex: the same in every backup of this root
    created: str = ""  # UTC time, ISO 8601
    files: Mapping[str, str] = field(default_factory=dict)  # file -> "" while it is there, else why it is gone
    # Each `version`, `at` and `why`, oldest first, as the pointer has them; None: here the pointer was written off
    champions: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def champion_changes(self) -> list[Mapping[str, Any]]:
        """The changes that the pointer must have."""
        lost = [number for number, change in enumerate(self.champions) if change["version"] is None]
        return list(self.champions[lost[-1] + 1 if lost else 0 :])


def read_inventory(store: Store) -> Inventory | None:
    """Return the inventory, or None without a `root.json`. Raises StorageError: it cannot be read here."""
    try:
        inventory = of_kind(Inventory, unseal(store.read_bytes(FORMAT_FILE)))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DamagedFieldsError(
            f"{FORMAT_FILE} below {store.root}, the root's format and inventory, cannot be read ({error}): "
            "restore it from a backup (wikisum restore --replace-damaged), or delete it and have a new one list what "
            "is there (wikisum verify --accept-loss)"
        ) from error
    if inventory.format not in (_BEFORE, FORMAT):
        raise StorageError(
            f"root {store.root!r} has format {inventory.format}, and this version of wikisum reads format {FORMAT}: "
            "use the version that wrote it or a later one (docs/upgrading.md)"
        )
    return inventory


def check_format(store: Store) -> None:
    """Check the format of a root, if there is one. Raises StorageError: it is not read here, or is damaged or gone."""
    if read_inventory(store) is None and (left := next(_left(store), None)):
        raise MissingFilesError(
            f"{FORMAT_FILE} below {store.root}, the root's format and inventory, is gone, but {left} is there: "
            "restore it from a backup (wikisum restore), or have a new one list what is there (wikisum verify "
            "--accept-loss)"
        )


def take_stock(store: Store, *, anew: bool = False) -> Inventory:
    """Return the inventory of a root that the caller holds, after listing files that it lacks. They come from a run
    that was killed before it listed them, or from a root of the format before. A new root gets its identity. `anew`
    makes an inventory of what is there where `root.json` is gone. Raises StorageError as `check_format`."""
    if not anew:
        check_format(store)
    known = read_inventory(store)
    fresh = Inventory(FORMAT, uuid.uuid4().hex, _now()) if known is None or known.format < FORMAT else known
    present = _present(store)
    fresh = replace(fresh, files={**fresh.files, **dict.fromkeys(sorted(_listed(present)), "")})
    history = _history(store) if CHAMPION in present else None
    if history is not None and _continues(history, fresh.champion_changes):
        fresh = replace(fresh, champions=[*fresh.champions, *history[len(fresh.champion_changes) :]])
    if fresh != known:
        save_inventory(store, fresh)
    return fresh


def save_inventory(store: Store, inventory: Inventory) -> None:
    """Replace `root.json`; the caller holds the root."""
    store.write_bytes(FORMAT_FILE, seal(asdict(inventory)))


def enlist(store: Store, *names: str, champion: Mapping[str, Any] | None = None) -> None:
    """List files that were written, or a change of the champion. The first of a root without identity gives it one.
    Raises MissingFilesError: the inventory is gone."""
    known = _held(store, but=names)
    files = {**known.files, **dict.fromkeys(names, "")}
    changed = replace(known, files=files, champions=[*known.champions, *([champion] if champion else [])])
    if changed != known:
        save_inventory(store, changed)


def write_off(store: Store, names: Iterable[str], why: str) -> None:
    """Say of listed files why they are gone, before they are deleted. `CHAMPION` starts the champion's changes
    again."""
    known, now, off = _held(store), _now(), set(names)
    files = {**known.files, **dict.fromkeys(sorted(off & known.files.keys()), f"{why} {now}")}
    lost = [{"version": None, "at": now, "why": why}] if CHAMPION in off else []
    if off:
        save_inventory(store, replace(known, files=files, champions=[*known.champions, *lost]))


def missing(store: Store) -> dict[str, str]:
    """Return the files that are listed and gone -> what is wrong, without `LATEST`, which is found again without a
    loss (`storage.builds.latest_build`). Raises StorageError: the inventory cannot be read."""
    inventory = read_inventory(store)
    if inventory is None:
        return {}
    present = _present(store)
    there = {*_listed(present), LATEST}
    gone = {name: _problem(inventory, name) for name, why in inventory.files.items() if not why and name not in there}
    if changes := inventory.champion_changes:
        history = _history(store) if CHAMPION in present else []
        if history is not None and not _continues(history, changes):
            gone[CHAMPION] = (
                _problem(inventory, CHAMPION)
                if CHAMPION not in present
                else (f"it has not the {len(changes)} changes of the champion that the root's inventory lists")
            )
    return gone


def check_whole(store: Store) -> None:
    """Check that everything listed is there. Raises MissingFilesError: something is gone, by name."""
    gone = missing(store)
    for name, problem in gone.items():
        others = f" ({len(gone)} in all)" if len(gone) > 1 else ""
        raise MissingFilesError(f"{name} below {store.root}: {problem}{others}: {way_out(name)}")


def check_never_there(store: Store, name: str) -> None:
    """Check that an absent file is not listed. Raises MissingFilesError: it is, so that it was there and is lost."""
    inventory = read_inventory(store)
    if inventory is None:
        return
    if inventory.champion_changes if name == CHAMPION else inventory.files.get(name) == "":
        raise MissingFilesError(f"{name} below {store.root}: {_problem(inventory, name)}: {way_out(name)}")


def way_out(name: str) -> str:
    """Return what helps where a listed file is gone."""
    return f"{_CHAMPION_AGAIN}; or {_WAYS_OUT}" if name == CHAMPION else _WAYS_OUT


def is_listed(store: Store, name: str) -> bool:
    """Whether a file other than the pointer to the champion is listed as there."""
    inventory = read_inventory(store)
    return inventory is not None and inventory.files.get(name) == ""


def _problem(inventory: Inventory, name: str) -> str:
    if name != CHAMPION:
        return "it is gone, and the root's inventory lists it"
    last = inventory.champion_changes[-1]
    return f"it is gone, and the root's inventory lists version {last['version']} as champion since {last['at']}"


def _held(store: Store, but: Sequence[str] = ()) -> Inventory:
    """Return the inventory to change; a new one if nothing that is listed is there, `but` for these."""
    known = read_inventory(store)
    if known is not None and known.format == FORMAT:
        return known
    if known is not None or _listed(_present(store)) - {*but}:
        return take_stock(store)
    return Inventory(FORMAT, uuid.uuid4().hex, _now())


def _present(store: Store) -> set[str]:
    return {f"{folder}/{name}" for folder in _FOLDERS for name in store.sizes(folder)}


def _left(store: Store) -> Iterator[str]:
    """Yield files that were written when the root had an inventory: those it lists, then shards."""
    yield from sorted(_listed(_present(store)))
    for stage in sorted(DATASETS.keys() & store.names()):
        yield from (f"{stage}/{name}" for name in sorted(store.sizes(stage)) if _SHARD.fullmatch(name))


def _listed(names: Iterable[str]) -> set[str]:
    """Return those of some files that an inventory lists; one that was set aside as damaged by the name it had."""
    return {match[1] for name in names if (match := _LISTED.fullmatch(name))}


def _history(store: Store) -> list[Mapping[str, Any]] | None:
    """Return the changes that the pointer has; None if it cannot be read, which is damage and no absence."""
    try:
        history: list[Mapping[str, Any]] = unseal(store.read_bytes(CHAMPION))["history"]
    except (ValueError, KeyError, StorageError, FileNotFoundError):
        return None
    return history if isinstance(history, list) else None


def _continues(history: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]]) -> bool:
    return list(history[: len(changes)]) == list(changes)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
