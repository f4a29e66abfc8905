"""Versions of libraries that are part of the keys of a root's stages, because somebody asked to have these stages made
again with another version. A key holds the version that is written here, not the one that is installed. So a root that
was never asked keeps its keys, and a library that changes later recomputes nothing before somebody asks again."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from storage.errors import DamagedFieldsError
from storage.inventory import LIBRARIES, check_never_there, enlist
from storage.sealed import of_kind, seal, unseal
from storage.store import Store

KeyedLibraries = Mapping[str, Mapping[str, str]]  # dataset or directory -> library -> version


@dataclass(frozen=True)
class _Content:
    stages: KeyedLibraries = field(default_factory=dict)


def read_keyed_libraries(store: Store) -> KeyedLibraries:
    """Return them; none without the file. Raises MissingFilesError: it is gone; DamagedFieldsError: it cannot be
    read."""
    try:
        return of_kind(_Content, unseal(store.read_bytes(LIBRARIES))).stages
    except FileNotFoundError:
        check_never_there(store, LIBRARIES)
        return {}
    except ValueError as error:
        raise DamagedFieldsError(
            f"{LIBRARIES} below {store.root} cannot be read ({error}): restore it from a backup "
            "(wikisum restore --replace-damaged)"
        ) from error


def save_keyed_libraries(store: Store, stages: KeyedLibraries) -> None:
    """Replace them; the caller holds the root."""
    store.write_bytes(LIBRARIES, seal(asdict(_Content(stages))))
    enlist(store, LIBRARIES)
